import { describe, expect, it } from 'vitest';
import { type JsonValue, parseJson } from '../../../../src/base/bigint-json.ts';
import { SeededRandom } from '../../../../src/base/seeded-random.ts';
import type { AvroCodec } from '../../../../src/codec/avro/read-container.ts';
import { AvroRecordWriter, writeAvroFile } from '../../../../src/codec/avro/write-avro-file.ts';
import type { InputRow, InputValue } from '../../../../src/codec/build-columns.ts';
import { readAvroFile } from '../../../support/avro-records.ts';
import { avroVector, avroVectors } from './vectors.ts';

const sync = new SeededRandom(1).bytes(16);
const codecs: readonly AvroCodec[] = ['null', 'deflate', 'snappy', 'zstandard'];

function schemaOf(type: JsonValue): JsonValue {
  return { type: 'record', name: 'r', fields: [{ name: 'a', type, 'field-id': 1 }] };
}

async function roundTrip(type: JsonValue, values: readonly InputValue[]): Promise<readonly unknown[]> {
  const bytes = await writeAvroFile({ schema: schemaOf(type), codec: 'null', sync, records: values.map((a) => ({ a })) });
  return [...readAvroFile(bytes, { name: 'f' }).records()].map((row) => row['a']);
}

describe('the header', () => {
  it('has the schema as it was given, with every attribute, and the metadata', async () => {
    const { bytes } = avroVector('manifest-null');
    const file = readAvroFile(bytes, { name: 'm' });
    const metadata = new Map<string, Uint8Array | string>([
      ['content', 'data'],
      ['schema-id', Buffer.from('0')],
    ]);
    const written = await writeAvroFile({ schema: file.schema, codec: 'deflate', sync, metadata, records: file.records() });
    const again = readAvroFile(written, { name: 'w' });
    const text = Buffer.from(file.metadata.get('avro.schema') ?? []).toString();
    expect(again.schema).toEqual(parseJson(text, 'schema'));
    expect(Buffer.from(again.metadata.get('avro.schema') ?? []).toString()).toContain('"logicalType":"map"');
    expect([...again.metadata.keys()]).toEqual(['content', 'schema-id', 'avro.schema', 'avro.codec']);
    expect(Buffer.from(again.metadata.get('content') ?? []).toString()).toBe('data');
  });
});

describe.each(codecs)('with codec %s', (codec) => {
  it('files of other writers come back row for row', async () => {
    for (const { name, bytes, rows } of avroVectors().values()) {
      if (rows === undefined) continue;
      const file = readAvroFile(bytes, { name });
      const written = await writeAvroFile({ schema: file.schema, codec, sync, records: file.records() });
      const again = readAvroFile(written, { name });
      expect(again.codec).toBe(codec);
      expect([...again.records()]).toEqual([...file.records()]);
    }
  });

  it('many blocks come back in order', async () => {
    const records = Array.from({ length: 5000 }, (_, index): InputRow => ({ a: `row ${index} ${'x'.repeat(index % 97)}` }));
    const written = await writeAvroFile({ schema: schemaOf('string'), codec, sync, records, blockBytes: 2000 });
    expect([...readAvroFile(written, { name: 'f' }).records()]).toEqual(records);
    expect(Buffer.from(written).toString('latin1').split(Buffer.from(sync).toString('latin1')).length).toBeGreaterThan(50);
  });

  it('a file without records is a file', async () => {
    const written = await writeAvroFile({ schema: schemaOf('long'), codec, sync, records: [] });
    expect([...readAvroFile(written, { name: 'f' }).records()]).toEqual([]);
  });
});

describe('values', () => {
  it('longs keep every bit, however they are given', async () => {
    const longs = [0n, -1n, 63n, 64n, -64n, -65n, 2n ** 31n, -(2n ** 31n) - 1n, 2n ** 32n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)];
    expect(await roundTrip('long', longs)).toEqual(longs);
    const random = new SeededRandom(3);
    const shifted = Array.from({ length: 64 }, (_, bit) => BigInt.asIntN(64, 1n << BigInt(bit)) + BigInt(Math.floor(random.next() * 3)));
    expect(await roundTrip('long', shifted)).toEqual(shifted.map((long) => BigInt.asIntN(64, long)));
    expect(await roundTrip('long', [7, -9007199254740991])).toEqual([7n, -9007199254740991n]);
  });

  it('ints, floats, doubles, booleans and bytes come back', async () => {
    const ints = [0, -1, 2 ** 31 - 1, -(2 ** 31), 128, -129];
    expect(await roundTrip('int', ints)).toEqual(ints);
    expect(await roundTrip('float', [1.5, -0, Number.NaN, Number.NEGATIVE_INFINITY])).toEqual([
      1.5,
      -0,
      Number.NaN,
      Number.NEGATIVE_INFINITY,
    ]);
    expect(await roundTrip('double', [0.1, Number.MIN_VALUE])).toEqual([0.1, Number.MIN_VALUE]);
    expect(await roundTrip('boolean', [true, false])).toEqual([true, false]);
    expect(await roundTrip('bytes', [Uint8Array.of(), Uint8Array.of(1, 2)])).toEqual([Uint8Array.of(), Uint8Array.of(1, 2)]);
  });

  it('texts of every length and script come back', async () => {
    const texts = ['', 'a', 'ä', 'x'.repeat(32), 'x'.repeat(33), `${'x'.repeat(31)}é`, '\u{1F600}\uFFFD', 'y'.repeat(70_000)];
    expect(await roundTrip('string', texts)).toEqual(texts);
  });

  it('fixed, enums, maps, pairs and unions come back', async () => {
    expect(await roundTrip({ type: 'fixed', name: 'f', size: 2 }, [Uint8Array.of(1, 2)])).toEqual([Uint8Array.of(1, 2)]);
    expect(await roundTrip({ type: 'enum', name: 'e', symbols: ['A', 'B'] }, ['B', 'A'])).toEqual(['B', 'A']);
    expect(await roundTrip({ type: 'map', values: 'int' }, [{ k: 1 }, new Map(), new Map([['l', 2]])])).toEqual([
      new Map([['k', 1]]),
      new Map(),
      new Map([['l', 2]]),
    ]);
    const fields = [
      { name: 'key', type: 'int' },
      { name: 'value', type: 'long' },
    ];
    const pairs = { type: 'array', items: { type: 'record', name: 'k1_v2', fields } };
    expect(await roundTrip({ ...pairs, logicalType: 'map' }, [new Map([[5, 6n]]), [{ key: 7, value: 8n }]])).toEqual([
      new Map([[5, 6n]]),
      new Map([[7, 8n]]),
    ]);
    expect(await roundTrip(pairs, [[{ key: 7, value: 8n }]])).toEqual([[{ key: 7, value: 8n }]]);
    expect(await roundTrip(['null', 'long', 'string'], [null, undefined, 5n, 'five'])).toEqual([null, null, 5n, 'five']);
    expect(await roundTrip(['string', 'null'], ['s', null])).toEqual(['s', null]);
  });

  it.each<[string, JsonValue, InputValue]>([
    ['a null where none is allowed', 'long', null],
    ['a fraction for a long', 'long', 1.5],
    ['a long past 64 bits', 'long', 2n ** 63n],
    ['an unsafe number for a long', 'long', 2 ** 60],
    ['a long for an int', 'int', 5n],
    ['an int past 32 bits', 'int', 2 ** 31],
    ['text for bytes', 'bytes', 'x'],
    ['a fixed of another size', { type: 'fixed', name: 'f', size: 2 }, Uint8Array.of(1)],
    ['a symbol that the enum does not have', { type: 'enum', name: 'e', symbols: ['A'] }, 'B'],
    ['a value that fits no branch', ['null', 'long', 'string'], true],
  ])('%s is refused, and the records around it stay', async (_, type, value) => {
    const schema = {
      type: 'record',
      name: 'r',
      fields: [
        { name: 'n', type: 'int' },
        { name: 'a', type: ['null', { type: 'array', items: type }] },
      ],
    };
    const writer = new AvroRecordWriter({ schema, codec: 'null', sync });
    writer.append({ n: 1 });
    expect(() => {
      writer.append({ n: 2, a: [value] });
    }).toThrow(/^r\.a\.element: /);
    writer.append({ n: 3 });
    expect(writer.rowCount).toBe(2);
    expect([...readAvroFile(await writer.finish(), { name: 'f' }).records()].map((row) => row['n'])).toEqual([1, 3]);
  });
});

it('a writer tells how large its file is, and holds few blocks after a drain', async () => {
  const writer = new AvroRecordWriter({ schema: schemaOf('string'), codec: 'deflate', sync, blockBytes: 1000 });
  const before = writer.sizeBytes;
  for (let index = 0; index < 1000; index++) writer.append({ a: 'the same again and again' });
  expect(writer.sizeBytes).toBe(before + 25_000);
  await writer.drain();
  expect(writer.sizeBytes).toBeLessThan(before + 15_000);
  const bytes = await writer.finish();
  expect(writer.sizeBytes).toBe(bytes.length);
});

it('a snappy block whose checksum is wrong is refused', async () => {
  const bytes = await writeAvroFile({ schema: schemaOf('string'), codec: 'snappy', sync, records: [{ a: 'hello' }] });
  const broken = Uint8Array.from(bytes);
  const checksumAt = bytes.length - 16 - 1;
  broken[checksumAt] = (broken[checksumAt] ?? 0) ^ 1;
  expect(() => [...readAvroFile(broken, { name: 'f' }).records()]).toThrow(/checksum/);
});
