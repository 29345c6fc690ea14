import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildBatch, type InputRow } from '../../../src/codec/build-columns.ts';
import { type PlainRow, rowsOf } from '../../../src/codec/rows.ts';
import type { PreparedRows } from '../../../src/engine/engine.ts';
import { parseColumnType } from '../../../src/expr/parse/column-type.ts';
import type { StructType } from '../../../src/schema/types.ts';
import { openTestEngine, type TestEngine } from '../../support/test-engine.ts';

let opened: TestEngine;
beforeAll(async () => {
  opened = await openTestEngine();
});
afterAll(() => opened.close());

function structOf(text: string): StructType {
  const type = parseColumnType(text);
  if (type.kind !== 'struct') throw new Error(text);
  return type;
}

async function read(query: PreparedRows, schema: StructType, rows: readonly InputRow[]): Promise<readonly PlainRow[]> {
  const batches = [];
  for await (const batch of query.run(buildBatch(schema, rows))) batches.push(batch);
  return [...rowsOf(batches)];
}

describe('a query over rows that are handed in', () => {
  it('gives every type back exactly, in order, over chunks, for batch after batch', async () => {
    const schema = structOf(
      'struct<n:long,t:string,b:binary,d:decimal(38,10),e:decimal(5,2),f:double,g:boolean,h:date,i:timestamp,l:array<string>,m:map<string,long>,s:struct<a:int,b:string>>',
    );
    const names = schema.fields.map((_, index) => `c${index}`).join(', ');
    const query = await opened.engine.prepare(schema, (source) => ({ sql: `SELECT ${names} FROM (${source})`, schema }));
    const row = (index: number): InputRow => ({
      n: BigInt(index),
      t: index % 3 === 0 ? null : `${'é'.repeat(index % 40)}${index}`,
      b: index % 5 === 0 ? null : new Uint8Array(index % 30).fill(index),
      d: `${index}.0123456789`,
      e: index % 7 === 0 ? null : `${index % 900}.25`,
      f: index / 3,
      g: index % 2 === 0,
      h: index,
      i: BigInt(index) * 1_000_001n,
      l: index % 4 === 0 ? null : Array.from({ length: index % 4 }, (_, at) => `element of a list ${at}`),
      m: new Map([[`a key that is longer than others ${index}`, BigInt(index)]]),
      s: index % 6 === 0 ? null : { a: index, b: 'x'.repeat(index % 20) },
    });
    for (const count of [5_000, 1, 2_048, 0]) {
      const rows = Array.from({ length: count }, (_, index) => row(index));
      expect(await read(query, schema, rows)).toEqual([...rowsOf([buildBatch(schema, rows)])]);
    }
    query.close();
  });

  it('an error of a value ends the run, and the next batch is computed', async () => {
    const given = structOf('struct<t:string>');
    const schema = structOf('struct<n:long,v:int>');
    const query = await opened.engine.prepare(given, (source) => ({ sql: `SELECT n, CAST(c0 AS INTEGER) AS v FROM (${source})`, schema }));
    await expect(read(query, given, [{ t: '1' }, { t: 'one' }])).rejects.toMatchObject({ code: 'ENGINE_QUERY_FAILED' });
    expect(await read(query, given, [{ t: '1' }, { t: '2' }])).toEqual([
      { n: 0n, v: 1 },
      { n: 1n, v: 2 },
    ]);
    query.close();
  });

  it('TRY tells which rows fail', async () => {
    const given = structOf('struct<t:string>');
    const schema = structOf('struct<n:long>');
    const sql = (source: string): string => `SELECT n FROM (${source}) WHERE TRY([CAST(c0 AS INTEGER)]) IS NULL`;
    const query = await opened.engine.prepare(given, (source) => ({ sql: sql(source), schema }));
    const rows = Array.from({ length: 5_000 }, (_, index) => ({ t: index % 1_000 === 7 ? 'seven' : index % 2 === 0 ? null : `${index}` }));
    expect(await read(query, given, rows)).toEqual([7n, 1_007n, 2_007n, 3_007n, 4_007n].map((n) => ({ n })));
    query.close();
  });

  it('columns that are not read need none', async () => {
    const given = structOf('struct<t:string>');
    const none: StructType = { kind: 'struct', fields: [] };
    const schema = structOf('struct<n:long>');
    const query = await opened.engine.prepare(none, (source) => ({ sql: `SELECT n FROM (${source})`, schema }));
    expect(await read(query, given, [{ t: 'a' }, { t: 'b' }])).toEqual([{ n: 0n }, { n: 1n }]);
    query.close();
  });
});
