import { inflateRawSync } from 'node:zlib';
import avsc from 'avsc';

/* Avro files by a general library, for tests that must not share the product's own codec. */

const longs = avsc.types.LongType.__with({
  fromBuffer: (buffer: Buffer) => buffer.readBigInt64LE(),
  toBuffer: (value: bigint) => {
    const buffer = Buffer.alloc(8);
    buffer.writeBigInt64LE(value);
    return buffer;
  },
  fromJSON: BigInt,
  toJSON: Number,
  isValid: (value: unknown) => typeof value === 'bigint',
  compare: (left: bigint, right: bigint) => (left === right ? 0 : left < right ? -1 : 1),
});
const header = avsc.Type.forSchema({
  type: 'record',
  name: 'Header',
  fields: [
    { name: 'magic', type: { type: 'fixed', name: 'Magic', size: 4 } },
    { name: 'meta', type: { type: 'map', values: 'bytes' } },
    { name: 'sync', type: { type: 'fixed', name: 'Sync', size: 16 } },
  ],
});
const long = avsc.Type.forSchema('long');
const syncBytes = 16;

export interface AvroFile {
  readonly meta: Readonly<Record<string, Buffer>>;
  readonly records: readonly unknown[];
}

function typeOf(meta: AvroFile['meta']): avsc.Type {
  return avsc.Type.forSchema(JSON.parse(String(meta['avro.schema'])) as avsc.Schema, { registry: { long: longs } });
}

export function readAvroFile(bytes: Buffer): AvroFile {
  const start = header.decode(bytes, 0) as { readonly value: { readonly meta: Record<string, Buffer> }; readonly offset: number };
  const { meta } = start.value;
  const type = typeOf(meta);
  const deflated = String(meta['avro.codec'] ?? 'null') === 'deflate';
  const records: unknown[] = [];
  for (let at = start.offset; at < bytes.length; ) {
    const count = long.decode(bytes, at) as { readonly value: number; readonly offset: number };
    const size = long.decode(bytes, count.offset) as { readonly value: number; readonly offset: number };
    const packed = bytes.subarray(size.offset, size.offset + size.value);
    const block = deflated ? inflateRawSync(packed) : packed;
    for (let left = count.value, position = 0; left > 0; left -= 1) {
      const { value, offset } = type.decode(block, position) as { readonly value: unknown; readonly offset: number };
      records.push(value);
      position = offset;
    }
    at = size.offset + size.value + syncBytes;
  }
  return { meta, records };
}

/** The file with its records in one block that is not packed. */
export function writeAvroFile({ meta, records }: AvroFile): Buffer {
  const type = typeOf(meta);
  const sync = Buffer.alloc(syncBytes, 7);
  const block = Buffer.concat(records.map((record) => type.toBuffer(record)));
  return Buffer.concat([
    header.toBuffer({ magic: Buffer.from('Obj\x01'), meta: { ...meta, 'avro.codec': Buffer.from('null') }, sync }),
    long.toBuffer(records.length),
    long.toBuffer(block.length),
    block,
    sync,
  ]);
}
