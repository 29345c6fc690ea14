import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import { parseColumnType } from '../../src/expr/parse/column-type.ts';
import { KnownSchemas } from '../../src/ingest/decode/known-schemas.ts';
import { RecordDecoder } from '../../src/ingest/decode/record-decoder.ts';
import type { ValueEncoding } from '../../src/protocol/payload-encoding.ts';
import type { StructType } from '../../src/schema/types.ts';
import { bytesOf, type CapturedEvent, goldenEvents } from '../support/golden-events.ts';
import { recordOf, rowsOf, type Value } from '../unit/ingest/decode/decoding.ts';

/*
 * Records of Debezium (test/golden/CATALOGUE.md) become the rows that the database had: from JSON with schemas and without, from Avro with the
 * schema's id before the payload and in headers, and from rows that Debezium has unwrapped itself.
 */

const { schemas, events: captured } = goldenEvents();
const schemasOf = new Map<string, KnownSchemas>();
for (const { capture, id, schema } of schemas) {
  const known = schemasOf.get(capture) ?? new KnownSchemas();
  schemasOf.set(capture, known);
  known.add([{ key: `ids/${id}`, schema: { type: 'AVRO', text: schema, references: [] } }]);
}

const encodings: Readonly<Record<string, ValueEncoding>> = {
  js: { kind: 'connect-json', envelope: 'debezium', tombstones: 'skip' },
  jt: { kind: 'json', framed: false, envelope: 'debezium', tombstones: 'skip' },
  ju: { kind: 'json', framed: false, tombstones: 'skip' },
  av: { kind: 'avro', schemas: 'registry', idIn: 'prefix', envelope: 'debezium', tombstones: 'skip' },
  ah: { kind: 'avro', schemas: 'registry', idIn: 'header', envelope: 'debezium', tombstones: 'skip' },
};

const tables: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  customers: {
    id: 'long',
    name: 'string',
    email: 'string',
    tags: 'array<string>',
    attrs: 'string',
    active: 'boolean',
    balance: 'decimal(12,2)',
    created_at: 'timestamp',
    updated_at: 'timestamp_ntz',
  },
  orders: {
    id: 'string',
    customer_id: 'long',
    status: 'string',
    qty: 'long',
    small: 'short',
    total: 'decimal(18,4)',
    price: 'float',
    rate: 'double',
    placed_at: 'timestamp',
    due: 'date',
    local_ts: 'timestamp_ntz',
    local_us: 'timestamp_ntz',
    doc: 'string',
    raw: 'binary',
    ints: 'array<integer>',
    bigs: 'array<long>',
    nums: 'array<decimal(10,3)>',
    uuids: 'array<string>',
    stamps: 'array<timestamp>',
    ip: 'string',
    net: 'string',
    ch: 'string',
    rng: 'string',
  },
  composite: { k1: 'integer', k2: 'string', v: 'decimal(20,5)', note: 'string' },
  documents: {
    id: 'integer',
    title: 'string',
    version: 'integer',
    body: 'string',
    meta: 'string',
    pages: 'array<string>',
    raw: 'binary',
    nums: 'array<long>',
  },
  no_key: { a: 'integer', b: 'string', c: 'timestamp' },
  odd: { id: 'integer', 'First Name': 'string', größe: 'integer', '1st': 'string', 'a.b': 'string', select: 'boolean', UPPER: 'string' },
  scratch: { id: 'integer' },
};

/** Of deleted rows only the key is there, unless the database keeps whole rows for it. */
const keysOf: Readonly<Record<string, readonly string[]>> = {
  customers: ['id'],
  composite: ['k1', 'k2'],
  documents: ['id'],
  odd: ['id'],
  scratch: ['id'],
};

/** Events without a schema have some times in spellings of their own, which other columns take; those are not compared. */
const spelled: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  jt: { date: 'string', timestamp: 'string', timestamp_ntz: 'string', 'array<timestamp>': 'array<string>' },
  ju: { timestamp: 'string', timestamp_ntz: 'long' },
};

const operations: Readonly<Record<string, string>> = { snapshot: 'r', incremental: 'r', create: 'c', update: 'u', delete: 'd' };

function schemaOf(columns: Readonly<Record<string, string>>): StructType {
  return {
    kind: 'struct',
    fields: Object.entries(columns).map(([name, type]) => ({ name, type: parseColumnType(type), nullable: true })),
  };
}

function decoderOf(schema: StructType, value: ValueEncoding | undefined, capture: string): RecordDecoder {
  const sources = schema.fields.map(({ name }) => ({ kind: 'value', name }) as const);
  return new RecordDecoder(schema, { sources, unknownMembers: 'ignore', value }, { schemas: schemasOf.get(capture) });
}

function columnsOf(capture: string, table: string): Readonly<Record<string, string>> {
  const columns = Object.entries(tables[table] ?? {});
  return Object.fromEntries(columns.map(([name, type]) => [name, spelled[capture]?.[type] ?? type]));
}

const cases = [...new Set(captured.filter(({ table }) => table !== null).map(({ capture, table }) => `${capture} ${table ?? ''}`))].map(
  (name) => {
    const [capture = '', table = ''] = name.split(' ');
    return { capture, table };
  },
);

describe('events of Debezium become the rows of the database', () => {
  it.each(cases)('$capture: $table', ({ capture, table }) => {
    const columns = columnsOf(capture, table);
    const unwrapped = capture === 'ju';
    const schema = schemaOf({
      ...columns,
      __op: 'string',
      __deleted: unwrapped ? 'string' : 'boolean',
      __table: 'string',
      __lsn: 'long',
      __source_ts_ms: 'long',
    });
    const decoder = decoderOf(schema, encodings[capture], capture);
    const account = decoderOf(schemaOf(tables[table] ?? {}), undefined, capture);
    const ofTable = captured.filter((each) => each.capture === capture && each.table === table);
    const rows: CapturedEvent[] = [];
    for (const each of ofTable) {
      const headers = (each.record.headers ?? []).map(([name, value]) => [name, Buffer.from(value, 'base64')] as const);
      const refusal = decoder.decode(recordOf(bytesOf(each, 'value'), { headers: () => headers }));
      const at = `${each.kind} ${bytesOf(each, 'value')?.toString('utf8').slice(-300) ?? ''}`;
      if (each.kind === 'tombstone' || each.kind === 'truncate') expect(refusal, at).toEqual({ noRow: each.kind });
      else {
        expect(refusal, at).toBeUndefined();
        rows.push(each);
        expect(account.decode(recordOf(each.row === 'null' ? '{}' : each.row)), each.row).toBeUndefined();
      }
    }
    const [found, wanted] = [rowsOf(decoder.finish()), rowsOf(account.finish())];
    expect(found).toHaveLength(rows.length);
    for (const [index, { kind, unsure, row: known }] of rows.entries()) {
      const names = Object.keys(columns).filter(
        (name) => !unsure.includes(name) && known !== 'null' && (kind !== 'delete' || keysOf[table]?.includes(name) !== false),
      );
      const compared = names.filter((name) => columns[name] === tables[table]?.[name]);
      const row = found[index] as Record<string, Value>;
      expect(picked(row, compared), `row ${index}, ${kind}`).toEqual(picked(wanted[index] as Record<string, Value>, compared));
      const deleted = kind === 'delete';
      expect(picked(row, ['__op', '__deleted', '__table'])).toEqual({
        __op: operations[kind],
        __deleted: unwrapped ? String(deleted) : deleted,
        __table: table,
      });
      expect(row['__lsn'] ?? row['__source_ts_ms']).not.toBeNull();
    }
  });

  it.each(Object.keys(encodings).filter((capture) => capture !== 'ju'))('%s: what is no change of a row is passed over', (capture) => {
    const special = captured.filter((each) => each.capture === capture && each.table === null);
    const decoder = decoderOf(schemaOf({ id: 'long' }), encodings[capture], capture);
    const reasons = special.map((each) => {
      const headers = (each.record.headers ?? []).map(([name, value]) => [name, Buffer.from(value, 'base64')] as const);
      return [
        each.record.topic.replace(/^__debezium-|\.?(js|jt|av|ah)\.?/g, ''),
        decoder.decode(recordOf(bytesOf(each, 'value'), { headers: () => headers }))?.noRow,
      ];
    });
    expect(special.length).toBeGreaterThan(0);
    for (const [topic, reason] of reasons) expect(reason).toBe(topic);
  });

  it.each(Object.keys(encodings))('%s: damaged events are rows or are refused, and leave nothing behind', (capture) => {
    const seed = Number(process.env['PAYLOAD_SEED'] ?? Date.now() % 1_000_000);
    const random = new SeededRandom(seed);
    const below = (bound: number): number => Math.floor(random.next() * bound);
    const columns = {
      ...columnsOf(capture, 'customers'),
      __op: 'string',
      __deleted: capture === 'ju' ? 'string' : 'boolean',
      __lsn: 'long',
    };
    const decoder = decoderOf(schemaOf(columns), encodings[capture], capture);
    const healthy = captured.filter((each) => each.capture === capture && each.table === 'customers').slice(0, 60);
    let rows = 0;
    for (const each of healthy.flatMap((event) => [event, event, event, event, event, event])) {
      const bytes = Buffer.from(bytesOf(each, 'value') ?? '');
      for (let damage = below(3); damage >= 0 && bytes.length > 0; damage -= 1) bytes[below(bytes.length)] = below(256);
      const headers = (each.record.headers ?? []).map(([name, value]) => [name, Buffer.from(value, 'base64')] as const);
      const payload = random.next() < 0.3 ? bytes.subarray(0, below(bytes.length + 1)) : bytes;
      if (decoder.decode(recordOf(payload, { headers: () => headers })) === undefined) rows += 1;
      expect(decoder.rowCount, `seed ${seed}`).toBe(rows);
    }
    expect(rowsOf(decoder.finish()), `seed ${seed}`).toHaveLength(rows);
    expect(rows).toBeGreaterThan(0);
  });
});

function picked(row: Readonly<Record<string, Value>>, names: readonly string[]): Record<string, Value> {
  // The account is JSON of a database that prints no sign of zero.
  return Object.fromEntries(names.map((name) => [name, row[name] === 0 ? 0 : (row[name] ?? null)]));
}
