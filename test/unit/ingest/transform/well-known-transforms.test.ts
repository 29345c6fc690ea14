import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PlainRow } from '../../../../src/codec/rows.ts';
import { openTestEngine, type TestEngine } from '../../../support/test-engine.ts';
import { type BenchRecord, transformed } from '../../../support/transform-bench.ts';

let opened: TestEngine;
beforeAll(async () => {
  opened = await openTestEngine();
});
afterAll(() => opened.close());

interface Case {
  /** Of the table. */
  readonly columns: readonly string[];
  /** Of the record, where they are others. */
  readonly record?: readonly string[];
  readonly given: readonly BenchRecord[];
  readonly rows: readonly PlainRow[];
}

const id = 'name: id, type: long';
const text = (name: string): string => `name: ${name}, type: string`;
const headers = 'name: headers, type: "map<string,string>", from: headers';
const of = (...values: readonly object[]): readonly BenchRecord[] => values.map((value) => ({ value }));
const customer = 'name: customer, type: "struct<name:string,address:struct<city:string>>"';
const ann = { id: 1, customer: { name: 'Ann', address: { city: 'Oslo' } } };

/** By the first column of the page's table. */
const cases: Readonly<Record<string, Case>> = {
  InsertField: {
    columns: [id, text('topic'), text('source'), text('region')],
    record: [id, 'name: topic, type: string, from: topic'],
    given: of({ id: 1 }),
    rows: [{ id: 1n, topic: 'events', source: 'events', region: 'eu' }],
  },
  InsertHeader: { columns: [id, text('version')], record: [id], given: of({ id: 1 }), rows: [{ id: 1n, version: '1' }] },
  'ReplaceField, exclude': { columns: [id], record: [id, text('ssn')], given: of({ id: 1, ssn: 'x' }), rows: [{ id: 1n }] },
  'ReplaceField, rename': {
    columns: [id, text('customer')],
    record: [id, text('c')],
    given: of({ id: 1, c: 'x' }),
    rows: [{ id: 1n, customer: 'x' }],
  },
  MaskField: { columns: [id, text('card')], given: of({ id: 1, card: '12-3' }), rows: [{ id: 1n, card: '**-*' }] },
  'MaskField, with a hash': {
    columns: [id, text('email')],
    given: of({ id: 1, email: 'abc' }),
    rows: [{ id: 1n, email: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad' }],
  },
  HoistField: {
    columns: ['name: record, type: "struct<line:string>"'],
    record: [text('line')],
    given: of({ line: 'a' }),
    rows: [{ record: { line: 'a' } }],
  },
  ExtractField: { columns: [text('city')], record: [customer], given: of(ann), rows: [{ city: 'Oslo' }] },
  Cast: {
    columns: [id, 'name: amount, type: "decimal(12,2)"'],
    record: [id, text('amount')],
    given: of({ id: 1, amount: '1.5' }),
    rows: [{ id: 1n, amount: '1.50' }],
  },
  'TimestampConverter, from a number': {
    columns: [id, 'name: at, type: timestamp'],
    record: [id, 'name: ts, type: long'],
    given: of({ id: 1, ts: 1_001 }),
    rows: [{ id: 1n, at: 1_001_000n }],
  },
  'TimestampConverter, from text': {
    columns: [id, 'name: at, type: timestamp'],
    record: [id, text('text')],
    given: of({ id: 1, text: '02.01.1970 00:01' }),
    rows: [{ id: 1n, at: 86_460_000_000n }],
  },
  'TimestampConverter, to text': {
    columns: [id, text('day')],
    record: [id, 'name: at, type: timestamp'],
    given: of({ id: 1, at: '2026-01-02T23:00:00Z' }),
    rows: [{ id: 1n, day: '2026-01-02' }],
  },
  'TimezoneConverter (Debezium)': {
    columns: [id, 'name: local, type: timestamp'],
    record: [id, 'name: at, type: timestamp'],
    given: of({ id: 1, at: '1970-01-01T00:00:00Z' }),
    rows: [{ id: 1n, local: 3_600_000_000n }],
  },
  Flatten: {
    columns: [id, text('customer_name'), text('customer_address_city')],
    record: [id, customer],
    given: of(ann),
    rows: [{ id: 1n, customer_name: 'Ann', customer_address_city: 'Oslo' }],
  },
  'Filter, by value': {
    columns: [id, text('status')],
    given: of({ id: 1, status: 'test' }, { id: 2, status: 'paid' }),
    rows: [{ id: 2n, status: 'paid' }],
  },
  'Filter, HasHeaderKey': {
    columns: [id],
    record: [id, headers],
    given: [{ value: { id: 1 }, headers: { replayed: 'yes' } }, { value: { id: 2 } }],
    rows: [{ id: 2n }],
  },
  'Filter, TopicNameMatches': { columns: [id], record: [id, 'name: topic, type: string, from: topic'], given: of({ id: 1 }), rows: [] },
  'Filter, RecordIsTombstone': { columns: [id], given: [{ value: null }, { value: { id: 2 } }], rows: [{ id: 2n }] },
  DropHeaders: {
    columns: [id, 'name: headers, type: "map<string,string>"'],
    record: [id, headers],
    given: [{ value: { id: 1 }, headers: { secret: 's', trace: 't' } }],
    rows: [{ id: 1n, headers: new Map([['trace', 't']]) }],
  },
  'HeaderFrom, HeaderToValue (Debezium)': {
    columns: [id, text('trace')],
    record: [id, headers],
    given: [{ value: { id: 1 }, headers: { trace: 't' } }, { value: { id: 2 } }],
    rows: [
      { id: 1n, trace: 't' },
      { id: 2n, trace: null },
    ],
  },
  'ExtractNewRecordState (Debezium)': {
    columns: [id],
    given: of({ before: null, after: { id: 1 }, op: 'c', source: {}, ts_ms: 1 }),
    rows: [{ id: 1n }],
  },
};

/** Those that have no SQL, and `GzipDecompress`, which `compressed-payloads.test.ts` is about. */
const without = ['GzipDecompress', 'ValueToKey', 'TimestampRouter, RegexRouter', 'SetSchemaMetadata'];

const page = readFileSync(new URL('../../../../docs/guides/transforms.md', import.meta.url), 'utf8');
const lines = new Map(
  page
    .slice(page.indexOf('## The well-known transforms'))
    .split('\n')
    .flatMap((line) => {
      const [, name, cure] = /^\| ([^|]+) \| (.+) \|$/.exec(line) ?? [];
      return name === undefined || cure === undefined || name === 'transform' ? [] : [[name, cure] as const];
    }),
);

describe('every line of the guide about well-known transforms', () => {
  it('has a test here', () => {
    expect([...lines.keys()].toSorted()).toEqual([...Object.keys(cases), ...without].toSorted());
  });

  it.each(Object.entries(cases))('%s', async (name, { columns, record, given, rows }) => {
    const route = /`((?:select|where|value): .+)`/.exec(lines.get(name) ?? '')?.[1] ?? '';
    const read = record === undefined ? '' : `columns: [${record.map((each) => `{ ${each} }`).join(', ')}]\n`;
    // Only columns that the record has fill the table's where nothing is selected.
    const select = record !== undefined && route.startsWith('where') ? '\nselect: [id]' : '';
    const result = await transformed({ columns, route: `${read}${route}${select}` }, [given], () => Promise.resolve(opened.engine));
    expect(result.rejects).toEqual([]);
    expect(result.rows).toEqual(rows);
  });
});
