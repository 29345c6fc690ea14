import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import { parseColumnType } from '../../src/expr/parse/column-type.ts';
import { KnownSchemas } from '../../src/ingest/decode/known-schemas.ts';
import { RecordDecoder } from '../../src/ingest/decode/record-decoder.ts';
import type { Refusal } from '../../src/ingest/decode/rejection.ts';
import type { ValueEncoding } from '../../src/protocol/payload-encoding.ts';
import type { StructType } from '../../src/schema/types.ts';
import { allGoldenEvents, bytesOf, type CapturedEvent } from '../support/golden-events.ts';
import { recordOf, rowsOf, type Value } from '../unit/ingest/decode/decoding.ts';

/*
 * Records of Debezium (test/golden/CATALOGUE.md) become the rows that the database had: from JSON with schemas and without, from Avro with the
 * schema's id before the payload and in headers, and from rows that Debezium has unwrapped itself; of PostgreSQL and MariaDB, and what a connector
 * that was killed sent twice.
 */

const { schemas, events: captured } = allGoldenEvents();
const schemasOf = new Map<string, KnownSchemas>();
for (const { capture, id, schema } of schemas) {
  const known = schemasOf.get(capture) ?? new KnownSchemas();
  schemasOf.set(capture, known);
  known.add([{ key: `ids/${id}`, schema: { type: 'AVRO', text: schema, references: [] } }]);
}

const encodings: Readonly<Record<string, ValueEncoding>> = {
  jn: { kind: 'json', framed: false, envelope: 'debezium', tombstones: 'skip' },
  ac: { kind: 'avro', schemas: 'registry', idIn: 'prefix', tombstones: 'skip' },
  my: { kind: 'connect-json', envelope: 'debezium', tombstones: 'skip' },
  crash: { kind: 'json', framed: false, envelope: 'debezium', tombstones: 'skip' },
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
  scratch2: { id: 'integer', v: 'string' },
  documents_rekey: { id: 'integer', version: 'integer', body: 'string' },
  // Its f was a date at first, its b a float.
  evolve: { id: 'integer', a: 'long', c: 'string', d: 'decimal(18,4)', e: 'integer', h: 'integer', h2: 'integer' },
  rig_signal: { id: 'string' },
  items: { id: 'long', name: 'string', price: 'decimal(12,2)', active: 'short', stock: 'long' },
  pairs: { a: 'integer', b: 'string', v: 'decimal(12,3)', at: 'timestamp_ntz' },
  plain: { a: 'integer', b: 'string' },
  temp_rows: { id: 'integer', v: 'string' },
  wide: {
    id: 'long',
    ti: 'short',
    tu: 'short',
    si: 'short',
    mi: 'integer',
    iu: 'long',
    f: 'float',
    d: 'double',
    dc: 'decimal(30,10)',
    da: 'date',
    dt: 'timestamp_ntz',
    dt6: 'timestamp_ntz',
    y: 'integer',
    e: 'string',
    st: 'string',
    j: 'string',
    c: 'string',
    b: 'binary',
    vb: 'binary',
    bl: 'binary',
    tx: 'string',
  },
};

/** Avro has other names for these. */
const avroNames: Readonly<Record<string, string>> = { 'First Name': 'First_Name', größe: 'gr__e', '1st': '_1st', 'a.b': 'a_b' };

/** Of deleted rows only the key is there, unless the database keeps whole rows for it. */
const keysOf: Readonly<Record<string, readonly string[]>> = {
  customers: ['id'],
  composite: ['k1', 'k2'],
  documents: ['id'],
  odd: ['id'],
  scratch: ['id'],
  scratch2: ['id'],
  documents_rekey: ['id'],
  evolve: ['id'],
};

/** Events without a schema have some times in spellings of their own, which other columns take; those are not compared. */
const isoStrings = { date: 'string', timestamp: 'string', timestamp_ntz: 'string', 'array<timestamp>': 'array<string>' };
const spelled: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  jt: isoStrings,
  crash: isoStrings,
  // Decimals are digits without their scale.
  jn: {
    date: 'integer',
    timestamp_ntz: 'long',
    'decimal(12,2)': 'string',
    'decimal(18,4)': 'string',
    'decimal(20,5)': 'string',
    'array<decimal(10,3)>': 'array<string>',
  },
  // Local times as instants, in milliseconds.
  ac: { timestamp_ntz: 'timestamp' },
  ju: { date: 'integer', timestamp: 'string', timestamp_ntz: 'long' },
};

const operations: Readonly<Record<string, string>> = { snapshot: 'r', incremental: 'r', create: 'c', update: 'u', delete: 'd' };

function isUnwrapped(capture: string): boolean {
  return capture === 'ju' || capture === 'ac';
}

function outcomeOf(refusal: Refusal | undefined): string | undefined {
  return refusal?.noRow ?? refusal?.reason;
}

function schemaOf(columns: Readonly<Record<string, string>>): StructType {
  return {
    kind: 'struct',
    fields: Object.entries(columns).map(([name, type]) => ({ name, type: parseColumnType(type), nullable: true })),
  };
}

function decoderOf(schema: StructType, value: ValueEncoding | undefined, capture: string): RecordDecoder {
  const names = value?.kind === 'avro' ? avroNames : {};
  const sources = schema.fields.map(({ name }) => ({ kind: 'value', name: names[name] ?? name }) as const);
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
    const unwrapped = isUnwrapped(capture);
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

  it.each(Object.keys(encodings).filter((capture) => !isUnwrapped(capture) && capture !== 'crash'))(
    '%s: what is no change of a row is passed over',
    (capture) => {
      const special = captured.filter((each) => each.capture === capture && each.table === null);
      const decoder = decoderOf(schemaOf({ id: 'long' }), encodings[capture], capture);
      const reasons = special.map((each) => {
        const headers = (each.record.headers ?? []).map(([name, value]) => [name, Buffer.from(value, 'base64')] as const);
        return [
          each.record.topic.replace(/^__debezium-|\.?\b(js|jn|jt|av|ah|my)\b\.?/g, ''),
          outcomeOf(decoder.decode(recordOf(bytesOf(each, 'value'), { headers: () => headers }))),
        ];
      });
      expect(special.length).toBeGreaterThan(0);
      // MariaDB's changes of its schemas, in the topic of the connector's name, are no events of rows.
      for (const [topic, reason] of reasons) expect(reason).toBe(topic === '' ? 'not-an-event' : topic);
    },
  );

  it.each(Object.keys(encodings))('%s: damaged events are rows or are refused, and leave nothing behind', (capture) => {
    const seed = Number(process.env['PAYLOAD_SEED'] ?? Date.now() % 1_000_000);
    const random = new SeededRandom(seed);
    const below = (bound: number): number => Math.floor(random.next() * bound);
    const columns = {
      ...columnsOf(capture, capture === 'my' ? 'items' : 'customers'),
      __op: 'string',
      __deleted: isUnwrapped(capture) ? 'string' : 'boolean',
      __lsn: 'long',
    };
    const decoder = decoderOf(schemaOf(columns), encodings[capture], capture);
    const healthy = captured
      .filter((each) => each.capture === capture && each.table === (capture === 'my' ? 'items' : 'customers'))
      .slice(0, 60);
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
