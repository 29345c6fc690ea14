import avsc from 'avsc';
import protobuf from 'protobufjs';

const longs = avsc.types.LongType.__with({
  fromBuffer: (bytes: Buffer) => bytes.readBigInt64LE(),
  toBuffer: (value: bigint) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(value);
    return bytes;
  },
  fromJSON: BigInt,
  toJSON: Number,
  isValid: (value: unknown) => typeof value === 'bigint',
  compare: (a: bigint, b: bigint) => (a === b ? 0 : a < b ? -1 : 1),
});

function longsOf(schema: avsc.Schema): avsc.Type | undefined {
  const type: unknown = typeof schema === 'object' && 'type' in schema ? schema.type : schema;
  return type === 'long' ? longs : undefined;
}

/** As avsc reads it; longs are bigints. */
export function avroValue(schema: string, payload: Buffer): unknown {
  return avsc.Type.forSchema(JSON.parse(schema) as avsc.Schema, { typeHook: longsOf }).fromBuffer(payload);
}

/** As protobufjs reads the first message of the file, which must be the one that the payload names; longs are text. */
export function protobufValue(schema: string, message: string, payload: Buffer): Record<string, unknown> {
  const known = 'syntax = "proto3"; package confluent.type; message Decimal { bytes value = 1; uint32 precision = 2; int32 scale = 3; }';
  const root = protobuf.parse(known, new protobuf.Root(), { keepCase: true }).root;
  const { root: parsed } = protobuf.parse(schema, root, { keepCase: true });
  const type = parsed.lookupType(message);
  if (payload[0] !== 0) throw new Error('the payload is of another message than the first');
  return type.toObject(type.decode(payload.subarray(1)), { longs: String, bytes: Buffer });
}
