import { describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue, parseJson, printJson } from '../../../src/base/bigint-json.ts';
import { ParquetChangeEncoder } from '../../../src/cdf/change-encoder.ts';
import { decodeRecords } from '../../../src/kafka/records/record-batch.ts';
import { type EncodeSpec, plainRecords } from '../../../src/protocol/change-event.ts';
import type { VersionChanges } from '../../../src/table/changes.ts';
import { noEngine } from '../../support/no-engine.ts';
import { allTypes, fullRow as full } from './all-types.ts';
import { ChangeTable, ordersSchema } from './change-table.ts';
import { ordersSpec } from './orders-spec.ts';

const spec: EncodeSpec = { ...ordersSpec, pipeline: 'demo pipe' };

interface SeenRecord {
  readonly key: JsonValue | undefined;
  readonly value: JsonValue | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

async function recordsOf(
  { openStore }: ChangeTable,
  changes: VersionChanges,
  more: Partial<EncodeSpec>,
  snapshot = false,
): Promise<readonly SeenRecord[]> {
  const encoder = new ParquetChangeEncoder({ openStore, openEngine: noEngine });
  const encoded = await encoder.encode({ spec: { ...spec, ...more }, changes, snapshot, fromOrdinal: 0, maxRows: 100, maxBytes: 1e9 });
  const parsed = (bytes: Uint8Array | undefined): JsonValue | undefined =>
    bytes === undefined ? undefined : parseJson(Buffer.from(bytes).toString(), 'record');
  return encoded.batches
    .flatMap((batch) => decodeRecords(batch.bytes, batch))
    .map(({ key, value, headers }) => ({
      key: parsed(key),
      value: parsed(value),
      headers: Object.fromEntries(headers.map(([name, text]) => [name, Buffer.from(text).toString()])),
    }));
}

const changed = [
  { id: 1, name: 'old', _change_type: 'update_preimage' },
  { id: 1, name: 'new', _change_type: 'update_postimage' },
  { id: 2, name: 'gone', _change_type: 'delete' },
  { id: 3, name: 'came', _change_type: 'insert' },
];

describe('envelope after', () => {
  it('is the row behind the change, and a record with a null value for a delete', async () => {
    const table = new ChangeTable();
    const records = await recordsOf(table, await table.commit([{ kind: 'recorded', rows: changed }]), { envelope: 'after' });
    expect(records.map(({ key, value, headers: { op, tombstone, ordinal } }) => ({ key, value, op, tombstone, ordinal }))).toEqual([
      { key: { id: 2 }, value: undefined, op: 'd', tombstone: 'true', ordinal: '0' },
      { key: { id: 1 }, value: { id: 1, name: 'new' }, op: 'u', tombstone: undefined, ordinal: '1' },
      { key: { id: 3 }, value: { id: 3, name: 'came' }, op: 'c', tombstone: undefined, ordinal: '3' },
    ]);
  });
});

describe('envelope cloudevents', () => {
  it('is a structured CloudEvent of each change; a delete has its tombstone behind it', async () => {
    const table = new ChangeTable();
    const changes = { ...(await table.commit([{ kind: 'recorded', rows: changed }])), link: { id: '"abc"', previous: undefined } };
    const records = await recordsOf(table, changes, { envelope: 'cloudevents' });
    const event = (id: number, word: string, op: string, data: JsonObject): JsonObject => ({
      specversion: '1.0',
      id: `"abc":${id}`,
      source: '/tidewater/demo%20pipe/sales.orders',
      type: `tidewater.row.${word}`,
      subject: 'sales.orders',
      time: '2023-11-14T22:13:20.000Z',
      datacontenttype: 'application/json',
      op,
      tableversion: '0',
      snapshot: false,
      data,
    });
    expect(records.map(({ value }) => value)).toEqual([
      event(0, 'deleted', 'd', { before: { id: 2, name: 'gone' }, after: null }),
      undefined,
      event(1, 'updated', 'u', { before: { id: 1, name: 'old' }, after: { id: 1, name: 'new' } }),
      event(3, 'created', 'c', { before: null, after: { id: 3, name: 'came' } }),
    ]);
    expect(records.map(({ headers }) => headers['content-type'] ?? headers['tombstone'])).toEqual([
      'application/cloudevents+json; charset=UTF-8',
      'true',
      'application/cloudevents+json; charset=UTF-8',
      'application/cloudevents+json; charset=UTF-8',
    ]);
  });

  it('has other ids in a snapshot of the version than in its changes', async () => {
    const table = new ChangeTable();
    const changes = await table.commit([{ kind: 'insert', rows: [{ id: 1 }] }]);
    const [[read], [created]] = (await Promise.all(
      [true, false].map((snapshot) => recordsOf(table, changes, { envelope: 'cloudevents' }, snapshot)),
    )) as [readonly SeenRecord[], readonly SeenRecord[]];
    expect(read?.value).toMatchObject({ id: '0:snapshot:0', type: 'tidewater.row.read', snapshot: true });
    expect(created?.value).toMatchObject({ id: '0:0', snapshot: false });
  });
});

interface Schema {
  readonly type: string;
  readonly optional: boolean;
  readonly field?: string;
  readonly fields?: readonly Schema[];
  readonly items?: Schema;
  readonly keys?: Schema;
  readonly values?: Schema;
}

const isOfType: Readonly<Record<string, (payload: JsonValue) => boolean>> = {
  ...Object.fromEntries(
    ['int8', 'int16', 'int32', 'int64', 'float', 'double'].map((type) => [
      type,
      (payload: JsonValue) => /^(number|bigint)$/.test(typeof payload),
    ]),
  ),
  ...Object.fromEntries(['string', 'bytes'].map((type) => [type, (payload: JsonValue) => typeof payload === 'string'])),
  boolean: (payload) => typeof payload === 'boolean',
};

/** What of a payload is not what its schema says, by the rules of Kafka Connect's JsonConverter. */
function misfits(schema: Schema | undefined, payload: JsonValue | undefined, path = ''): readonly string[] {
  if (schema === undefined) return [`${path}: no schema`];
  const { type, optional, fields = [], items, keys, values } = schema;
  if (payload === null || payload === undefined) return optional && payload === null ? [] : [`${path}: ${String(payload)}`];
  if (type === 'struct' && isJsonObject(payload)) {
    const strangers = Object.keys(payload).filter((name) => !fields.some(({ field }) => field === name));
    const wrong = fields.flatMap((member) => misfits(member, payload[member.field ?? ''], `${path}.${member.field ?? ''}`));
    return [...strangers.map((name) => `${path}.${name}: not in the schema`), ...wrong];
  }
  if (type === 'array' && Array.isArray(payload)) {
    return (payload as readonly JsonValue[]).flatMap((item, index) => misfits(items, item, `${path}[${index}]`));
  }
  if (type === 'map' && isJsonObject(payload) && keys?.type === 'string') {
    return Object.entries(payload).flatMap(([name, value]) => misfits(values, value, `${path}.${name}`));
  }
  return isOfType[type]?.(payload) === true ? [] : [`${path}: ${typeof payload} in ${type}`];
}

describe('records with their schemas', () => {
  it.each(['debezium', 'after', 'flat'] as const)('fit these in envelope %s, whatever the types', async (envelope) => {
    const table = new ChangeTable(allTypes);
    const changes = await table.commit([
      { kind: 'delete', rows: [full] },
      { kind: 'insert', rows: [full, { id: 8n }] },
    ]);
    const records = await recordsOf(table, changes, { envelope, schemas: true });
    const parts = records.flatMap(({ key, value }) => [key, ...(value === undefined ? [] : [value])]).filter((part) => part !== undefined);
    expect(parts.length).toBeGreaterThan(4);
    for (const part of parts) {
      const { schema, payload } = part as unknown as { readonly schema: Schema; readonly payload: JsonValue };
      expect(misfits(schema, payload)).toEqual([]);
    }
  });

  it('are named as Debezium names them, by the topic', async () => {
    const table = new ChangeTable();
    const [record] = await recordsOf(table, await table.commit([{ kind: 'insert', rows: [{ id: 1, name: 'a' }] }]), { schemas: true });
    const id = { type: 'int64', optional: false, field: 'id' };
    expect(record?.key).toEqual({
      schema: { type: 'struct', fields: [id], optional: false, name: 'cdf.orders.Key' },
      payload: { id: 1 },
    });
    const image = {
      type: 'struct',
      fields: [id, { type: 'string', optional: true, field: 'name' }],
      optional: true,
      name: 'cdf.orders.Value',
    };
    expect(record?.value).toMatchObject({
      schema: {
        type: 'struct',
        optional: false,
        name: 'cdf.orders.Envelope',
        fields: [
          { ...image, field: 'before' },
          { ...image, field: 'after' },
          { field: 'source' },
          { field: 'op' },
          { field: 'ts_ms' },
          { field: 'ts_us' },
          { field: 'transaction' },
        ],
      },
      payload: { before: null, after: { id: 1, name: 'a' }, op: 'c' },
    });
  });

  it('have the JSON of a variant as text', async () => {
    const table = new ChangeTable({
      kind: 'struct',
      fields: [...ordersSchema.fields, { name: 'any', type: { kind: 'variant' }, nullable: true }],
    });
    const [record] = await recordsOf(table, await table.commit([{ kind: 'insert', rows: [{ id: 1, any: { a: [1] } }] }]), {
      envelope: 'after',
      schemas: true,
    });
    expect(record?.value).toMatchObject({ payload: { any: '{"a":[1]}' } });
    expect(printJson(record?.value ?? null)).toContain(
      '{"type":"string","optional":true,"name":"io.debezium.data.Json","version":1,"field":"any"}',
    );
  });
});

describe('envelope cloudevents in binary mode', () => {
  it('has the attributes in headers, and both images as the value', async () => {
    const table = new ChangeTable();
    const changes = { ...(await table.commit([{ kind: 'recorded', rows: changed }])), link: { id: 'abc', previous: undefined } };
    const records = await recordsOf(table, changes, { envelope: 'cloudevents', records: { ...plainRecords, cloudEventMode: 'binary' } });
    expect(records[0]).toMatchObject({
      value: { before: { id: 2, name: 'gone' }, after: null },
      headers: {
        'content-type': 'application/json',
        ce_specversion: '1.0',
        ce_id: 'abc:0',
        ce_source: '/tidewater/demo%20pipe/sales.orders',
        ce_type: 'tidewater.row.deleted',
        ce_subject: 'sales.orders',
        ce_time: '2023-11-14T22:13:20.000Z',
        ce_op: 'd',
        ce_tableversion: '0',
        ce_snapshot: 'false',
        ordinal: '0',
      },
    });
    expect(records.map(({ headers }) => [headers['ce_id'], headers['ordinal']])).toEqual([
      ['abc:0', '0'],
      [undefined, '0'],
      ['abc:1', '1'],
      ['abc:3', '3'],
    ]);
  });
});
