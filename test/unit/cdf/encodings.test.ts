import fc from 'fast-check';
import protobuf from 'protobufjs';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../../src/base/bigint-json.ts';
import { ParquetChangeEncoder } from '../../../src/cdf/change-encoder.ts';
import { registeredSchema } from '../../../src/cdf/encoding/encodings.ts';
import type { InputRow } from '../../../src/codec/build-columns.ts';
import { decodeRecords } from '../../../src/kafka/records/record-batch.ts';
import {
  type EncodeSpec,
  type EncodeTask,
  type EventEncoding,
  plainRecords,
  type RecordSettings,
} from '../../../src/protocol/change-event.ts';
import type { DataType, StructType } from '../../../src/schema/types.ts';
import { unscaledOf } from '../../../src/table/partitioning/unscaled-bytes.ts';
import { noEngine } from '../../support/no-engine.ts';
import { allTypes, fullRow } from './all-types.ts';
import { ChangeTable, type FileRows } from './change-table.ts';
import { avroValue, protobufValue } from './decoded-values.ts';
import { ordersSpec } from './orders-spec.ts';

interface Published {
  readonly schema: string;
  readonly keySchema: string;
  readonly records: readonly { readonly key: Buffer; readonly value: Buffer | undefined; readonly partition: number }[];
}

const ids = { key: 7, value: 300 };

async function published(
  encoding: EventEncoding,
  files: readonly FileRows[],
  more: {
    readonly schema?: StructType;
    readonly seenAs?: StructType;
    readonly spec?: Partial<EncodeSpec>;
    readonly records?: Partial<RecordSettings>;
  } = {},
): Promise<Published> {
  const table = new ChangeTable(more.schema ?? allTypes);
  const spec: EncodeSpec = { ...ordersSpec, ...more.spec, records: { ...plainRecords, encoding, ...more.records } };
  const committed = await table.commit(files);
  const changes = { ...committed, schema: more.seenAs ?? committed.schema };
  const task: EncodeTask = { spec, changes, snapshot: false, fromOrdinal: 0, maxRows: 1000, maxBytes: 1e9, schemaIds: ids };
  const encoded = await new ParquetChangeEncoder({ openStore: table.openStore, openEngine: noEngine }).encode(task);
  const records = encoded.batches.flatMap((batch) =>
    decodeRecords(batch.bytes, batch).map(({ key, value }) => ({
      key: Buffer.from(key ?? []),
      value: value === undefined ? undefined : Buffer.from(value),
      partition: batch.partition,
    })),
  );
  return { schema: registeredSchema(task, 'value')?.text ?? '', keySchema: registeredSchema(task, 'key')?.text ?? '', records };
}

/** The payload behind the byte 0 and the number of the schema. */
function payloadOf(bytes: Buffer | undefined, id: number): Buffer {
  expect(bytes?.[0]).toBe(0);
  expect(bytes?.readUInt32BE(1)).toBe(id);
  return bytes?.subarray(5) ?? Buffer.alloc(0);
}

/** Avro's records are classes, Protobuf's bytes are buffers: only the data counts. */
function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}` : part), 0),
    (_, part: unknown) => (isBuffer(part) ? Buffer.from(part.data).toString('hex') : part),
  );
}

function isBuffer(part: unknown): part is { readonly data: readonly number[] } {
  return typeof part === 'object' && part !== null && 'type' in part && part.type === 'Buffer';
}

const text = { at: '1970-01-01T00:00:00.000000Z' };
const empty = { ...Object.fromEntries(allTypes.fields.map(({ name }) => [name, null])), id: '8' };
const exactRow = {
  ...{
    id: '7',
    flag: true,
    tiny: -1,
    small: 2,
    whole: 3,
    single: 0.5,
    real: 1.25,
    price: '03e7',
    data: '0102',
    day: 0,
    at: text.at,
    local: '0',
  },
};
const avroRow = { ...exactRow, place: { ci_ty: 'x' }, tags: ['a', null], counts: [{ key: 1, value: '2' }] };

describe('Avro', () => {
  it('has every type of a table, and both images', async () => {
    const { schema, records } = await published('avro', [
      { kind: 'delete', rows: [fullRow] },
      { kind: 'insert', rows: [{ id: 8n }] },
    ]);
    const [deleted, tombstone, created] = records;
    expect(tombstone?.value).toBeUndefined();
    expect(plain(avroValue(schema, payloadOf(deleted?.value, ids.value)))).toEqual({
      before: avroRow,
      after: null,
      source: {
        version: '1',
        connector: 'delta',
        name: 'demo',
        db: 'sales',
        table: 'orders',
        ts_ms: '1700000000000',
        snapshot: 'false',
        tableVersion: '0',
        seq: '0',
      },
      op: 'd',
      ts_ms: '1700000000000',
      ts_us: '1700000000000000',
      transaction: { id: 'sales.orders:0', total_order: '0' },
    });
    expect(plain(avroValue(schema, payloadOf(created?.value, ids.value)))).toMatchObject({ before: null, after: empty, op: 'c' });
  });

  it('has the schemas that Confluent’s converter makes of Debezium’s', async () => {
    const { schema, keySchema } = await published('avro', [{ kind: 'insert', rows: [fullRow] }]);
    expect(JSON.parse(keySchema)).toEqual({
      type: 'record',
      name: 'Key',
      namespace: 'cdf.orders',
      fields: [{ name: 'id', type: 'long' }],
      'connect.name': 'cdf.orders.Key',
    });
    const envelope = JSON.parse(schema) as { readonly fields: readonly { readonly name: string; readonly type: unknown }[] };
    expect(envelope).toMatchObject({
      name: 'Envelope',
      namespace: 'cdf.orders',
      'connect.name': 'cdf.orders.Envelope',
      'connect.version': 1,
    });
    expect(envelope.fields.map(({ name }) => name)).toEqual(['before', 'after', 'source', 'op', 'ts_ms', 'ts_us', 'transaction']);
    const [nothing, value] = envelope.fields[0]?.type as [
      string,
      { readonly name: string; readonly fields: readonly { readonly name: string }[] },
    ];
    expect([nothing, value.name, envelope.fields[1]?.type]).toEqual(['null', 'Value', ['null', 'cdf.orders.Value']]);
    expect(value.fields.find(({ name }) => name === 'price')).toEqual({
      name: 'price',
      type: [
        'null',
        {
          type: 'bytes',
          scale: 2,
          precision: 12,
          'connect.version': 1,
          'connect.parameters': { scale: '2', 'connect.decimal.precision': '12' },
          'connect.name': 'org.apache.kafka.connect.data.Decimal',
          logicalType: 'decimal',
        },
      ],
      default: null,
    });
    expect(value.fields.find(({ name }) => name === 'at')).toEqual({
      name: 'at',
      type: ['null', { type: 'string', 'connect.version': 1, 'connect.name': 'io.debezium.time.ZonedTimestamp' }],
      default: null,
    });
  });

  it('is read back the same, whatever the values', async () => {
    const schema: StructType = {
      kind: 'struct',
      fields: [
        { name: 'id', type: { kind: 'long' }, nullable: false },
        { name: 'whole', type: { kind: 'integer' }, nullable: true },
        { name: 'real', type: { kind: 'double' }, nullable: true },
        { name: 'words', type: { kind: 'string' }, nullable: true },
        { name: 'price', type: { kind: 'decimal', precision: 38, scale: 5 }, nullable: true },
      ],
    };
    const row = fc.record({
      id: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      whole: fc.option(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })),
      real: fc.option(fc.double({ noNaN: true })),
      words: fc.option(fc.string({ unit: 'grapheme', maxLength: 200 })),
      price: fc.option(fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n })),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 20 }), async (rows) => {
        const given = rows.map((each): InputRow => ({ ...each, price: each.price === null ? null : decimalText(each.price, 5) }));
        for (const encoding of ['avro', 'protobuf'] as const) {
          const { schema: told, records } = await published(encoding, [{ kind: 'insert', rows: given }], {
            schema,
            spec: { envelope: 'after' },
          });
          const values = records.map(({ value }) => {
            const payload = payloadOf(value, ids.value);
            if (encoding === 'avro') return avroValue(told, payload) as Record<string, unknown>;
            return protobufValue(told, 'cdf.orders.Value', payload);
          });
          expect(
            values.map(({ id, whole, real, words, price }) => ({
              id: BigInt((id as string | undefined) ?? 0),
              whole: whole ?? null,
              real: real ?? null,
              words: words ?? null,
              price: unscaled(price),
            })),
          ).toEqual(rows);
        }
      }),
      { numRuns: 30 },
    );
  });
});

function unscaled(price: unknown): bigint | null {
  if (price === null || price === undefined) return null;
  return unscaledOf(price instanceof Uint8Array ? price : (price as { readonly value: Uint8Array }).value);
}

function decimalText(unscaledValue: bigint, scale: number): string {
  const digits = (unscaledValue < 0n ? -unscaledValue : unscaledValue).toString().padStart(scale + 1, '0');
  return `${unscaledValue < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

describe('Protobuf', () => {
  it('has every type of a table, both images, and tells null from the values that are absent elsewhere', async () => {
    const { schema, records } = await published('protobuf', [
      { kind: 'delete', rows: [fullRow] },
      { kind: 'insert', rows: [{ id: 0n, whole: 0, tags: [] }] },
    ]);
    const of = (value: Buffer | undefined): unknown => plain(protobufValue(schema, 'cdf.orders.Envelope', payloadOf(value, ids.value)));
    expect(of(records[0]?.value)).toEqual({
      before: {
        ...exactRow,
        price: { value: '03e7', precision: 12, scale: 2 },
        place: { ci_ty: 'x' },
        tags: { items: [{ value: 'a' }, {}] },
        counts: { items: [{ key: 1, value: '2' }] },
      },
      source: {
        version: '1',
        connector: 'delta',
        name: 'demo',
        db: 'sales',
        table: 'orders',
        ts_ms: '1700000000000',
        snapshot: 'false',
      },
      op: 'd',
      ts_ms: '1700000000000',
      ts_us: '1700000000000000',
      transaction: { id: 'sales.orders:0' },
    });
    expect(of(records.at(-1)?.value)).toMatchObject({ after: { whole: 0, tags: {} } });
    expect(Object.keys((of(records.at(-1)?.value) as { readonly after: object }).after)).toEqual(['whole', 'tags']);
  });

  it('has lengths that fit ordinals of any size', async () => {
    const rows = Array.from({ length: 300 }, (_, id): InputRow => ({ id: BigInt(id) }));
    const { schema, records } = await published('protobuf', [{ kind: 'insert', rows }]);
    const events = records.map(({ value }) => protobufValue(schema, 'cdf.orders.Envelope', payloadOf(value, ids.value)));
    expect(events.map(({ source }) => Number((source as { readonly seq?: string }).seq ?? 0))).toEqual(rows.map((_, index) => index));
  });

  it('numbers fields by the ids of columns, so that columns may come, go and move', async () => {
    const fields = [
      { name: 'name', type: { kind: 'string' }, nullable: true, id: 5 },
      { name: 'id', type: { kind: 'long' }, nullable: false, id: 2 },
    ] as const;
    const { schema, keySchema, records } = await published('protobuf', [{ kind: 'insert', rows: [{ id: 9n, name: 'x' }] }], {
      schema: { kind: 'struct', fields },
      spec: { envelope: 'flat' },
    });
    expect(schema).toBe(`syntax = "proto3";
package cdf.orders;

message Value {
  optional string name = 5;
  int64 id = 2;
  string _change_type = 536870909;
  int64 _commit_version = 536870910;
  string _commit_timestamp = 536870911;
}
`);
    expect(keySchema).toContain('int64 id = 2;');
    expect(protobufValue(schema, 'cdf.orders.Value', payloadOf(records[0]?.value, ids.value))).toEqual({
      name: 'x',
      id: '9',
      _change_type: 'insert',
      _commit_timestamp: '2023-11-14T22:13:20.000000Z',
    });
  });
});

describe('JSON Schema', () => {
  it('is of the JSON that stands behind the number', async () => {
    const { schema, records } = await published('json-schema', [{ kind: 'insert', rows: [fullRow] }], { spec: { envelope: 'after' } });
    expect(JSON.parse(payloadOf(records[0]?.key, ids.key).toString())).toEqual({ id: 7 });
    expect(JSON.parse(payloadOf(records[0]?.value, ids.value).toString())).toMatchObject({ id: 7, price: '9.99', counts: { 1: 2 } });
    expect(JSON.parse(schema)).toMatchObject({
      type: 'object',
      title: 'cdf.orders.Value',
      required: ['id'],
      properties: {
        id: { 'connect.index': 0, type: 'integer', 'connect.type': 'int64' },
        price: { oneOf: [{ type: 'null' }, { type: 'string' }] },
        data: { oneOf: [{ type: 'null' }, { type: 'string', 'connect.type': 'bytes' }] },
        counts: { oneOf: [{ type: 'null' }, { type: 'object', 'connect.type': 'map' }] },
      },
    });
  });
});

const modes: StructType = {
  kind: 'struct',
  fields: [
    { name: 'id', type: { kind: 'long' }, nullable: false },
    { name: 'price', type: { kind: 'decimal', precision: 12, scale: 2 }, nullable: true },
    { name: 'day', type: { kind: 'date' }, nullable: true },
    { name: 'local', type: { kind: 'timestamp_ntz' }, nullable: true },
    { name: 'data', type: { kind: 'binary' }, nullable: true },
  ],
};
const modesRow = { id: 1n, price: '-0.05', day: 19_844, local: -1n, data: Uint8Array.of(0xfb, 0xff) };

describe('how values are told', () => {
  it.each([
    [{}, { price: '-0.05', day: '2024-05-01', local: '1969-12-31T23:59:59.999999', data: '+/8=' }],
    [
      { times: 'isostring', decimals: 'double' },
      { price: -0.05, day: '2024-05-01Z', local: '1969-12-31T23:59:59.999999Z' },
    ],
    [
      { times: 'adaptive', decimals: 'precise', binary: 'hex' },
      { price: '+w==', day: 19_844, local: -1, data: 'fbff' },
    ],
    [
      { times: 'connect', binary: 'base64-url-safe' },
      { day: 19_844, local: -1, data: '-_8=' },
    ],
  ] as const)('is chosen by the feed: %j', async (records, expected) => {
    const { records: seen } = await published('json', [{ kind: 'insert', rows: [modesRow] }], {
      schema: modes,
      records,
      spec: { envelope: 'after' },
    });
    expect(parseJson(seen[0]?.value?.toString() ?? '', 'value')).toMatchObject(expected);
  });

  it('of dates and times in Protobuf is a message that everybody knows', async () => {
    const { schema, records } = await published('protobuf', [{ kind: 'insert', rows: [modesRow] }], {
      schema: modes,
      records: { times: 'connect' },
      spec: { envelope: 'after' },
    });
    expect(schema).toContain('import "google/type/date.proto";');
    const known = 'syntax = "proto3"; package google.type; message Date { int32 year = 1; int32 month = 2; int32 day = 3; }';
    const { root } = protobuf.parse(known, new protobuf.Root());
    protobuf.parse('syntax = "proto3"; package google.protobuf; message Timestamp { int64 seconds = 1; int32 nanos = 2; }', root);
    protobuf.parse(
      'syntax = "proto3"; package confluent.type; message Decimal { bytes value = 1; uint32 precision = 2; int32 scale = 3; }',
      root,
    );
    const type = protobuf.parse(schema, root).root.lookupType('cdf.orders.Value');
    expect(type.toObject(type.decode(records[0]?.value?.subarray(6) ?? Buffer.alloc(0)), { longs: Number })).toMatchObject({
      day: { year: 2024, month: 5, day: 1 },
      local: { seconds: -1, nanos: 999_000_000 },
    });
  });
});

describe('a feed of another encoding than JSON', () => {
  it('has keys of another one where it says so, and its partition is by their bytes', async () => {
    const rows = [{ id: 1n }, { id: 2n }, { id: 3n }];
    const { records } = await published('avro', [{ kind: 'insert', rows }], { records: { keyEncoding: 'json' }, spec: { partitions: 5 } });
    expect(records.map(({ key }) => key.toString()).toSorted()).toEqual(['{"id":1}', '{"id":2}', '{"id":3}']);
  });

  it('ends with a null where its schema has no place for one', async () => {
    const seenAs: StructType = { kind: 'struct', fields: modes.fields.map((field) => ({ ...field, nullable: false })) };
    for (const encoding of ['avro', 'protobuf'] as const) {
      await expect(published(encoding, [{ kind: 'insert', rows: [{ id: 1n }] }], { schema: modes, seenAs })).rejects.toMatchObject({
        code: 'CDF_NULL_IN_REQUIRED',
        message: expect.stringContaining('price') as string,
      });
    }
  });

  it('is refused columns whose names become the same', async () => {
    const fields = ['a b', 'a-b'].map((name) => ({ name, type: { kind: 'string' }, nullable: true }) as const);
    const schema: StructType = { kind: 'struct', fields: [...modes.fields.slice(0, 1), ...fields] };
    await expect(published('avro', [{ kind: 'insert', rows: [{ id: 1n }] }], { schema })).rejects.toMatchObject({
      code: 'CDF_NAMES_COLLIDE',
    });
    await expect(published('protobuf', [{ kind: 'insert', rows: [{ id: 1n }] }], { schema })).rejects.toMatchObject({
      code: 'CDF_NAMES_COLLIDE',
    });
  });

  it('has names apart for the parts of a column and for a column of that name', async () => {
    const struct = (name: string): DataType => ({ kind: 'struct', fields: [{ name, type: { kind: 'string' }, nullable: true }] });
    const list = (element: DataType): DataType => ({ kind: 'list', element, elementNullable: false });
    const types: readonly (readonly [string, DataType])[] = [
      ['a_item', struct('x')],
      ['a', list(struct('y'))],
      ['a_type', { kind: 'string' }],
    ];
    const fields = types.map(([name, type]) => ({ name, type, nullable: true }));
    const schema: StructType = { kind: 'struct', fields: [...modes.fields.slice(0, 1), ...fields] };
    const row = { a_item: { x: 'one' }, a: [{ y: 'two' }], a_type: 'three' };
    const files: readonly FileRows[] = [{ kind: 'insert', rows: [{ id: 1n, ...row }] }];
    const avro = await published('avro', files, { schema, spec: { envelope: 'after' } });
    expect(plain(avroValue(avro.schema, payloadOf(avro.records[0]?.value, ids.value)))).toEqual({ id: '1', ...row });
    const proto = await published('protobuf', files, { schema, spec: { envelope: 'after' } });
    expect(plain(protobufValue(proto.schema, 'Value', payloadOf(proto.records[0]?.value, ids.value)))).toEqual({
      id: '1',
      ...row,
      a: { items: row.a },
    });
  });
});
