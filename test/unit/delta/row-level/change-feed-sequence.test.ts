import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseExpression } from '../../../../src/expr/parse/parse-expression.ts';
import { LocalTables } from '../../../support/local-tables.ts';
import { changesOf } from '../../../support/table-changes.ts';

const upserts = "SELECT * FROM (VALUES (2, 200.0, 'a'), (7, 700.0, 'd')) s(id, val, grp)";

let tables: LocalTables;
beforeAll(async () => {
  tables = await LocalTables.open();
});
afterAll(() => tables.close());

/** Create, append, update, delete, delete a partition, merge: versions 0 to 5. */
async function sequence(name: string, properties: Readonly<Record<string, string>>) {
  const table = await tables.create(name, 'id INT, val DOUBLE, grp STRING', { partitionBy: ['grp'], properties });
  await tables.append(
    table,
    "SELECT * FROM (VALUES (1, 1.0, 'a'), (2, 2.0, 'a'), (3, 3.0, 'b'), (4, NULL, 'b'), (5, 5.0, 'c'), (6, 6.0, 'c')) t(id, val, grp)",
  );
  const { operations } = table;
  const updated = await operations.update({
    assignments: [{ target: ['val'], value: parseExpression('coalesce(val, 0) + 10') }],
  });
  const deleted = await operations.delete({ condition: parseExpression('id in (1, 6)') });
  const partition = await operations.delete({ condition: parseExpression("grp = 'b'") });
  const merged = await operations.merge({
    source: await tables.query(upserts),
    targetAlias: 't',
    sourceAlias: 's',
    condition: parseExpression('t.id = s.id'),
    clauses: [
      { on: 'matched', action: 'update', assignments: 'all' },
      { on: 'not-matched', action: 'insert', values: 'all' },
    ],
  });
  return { table, results: [updated, deleted, partition, merged] };
}

const change = (version: number, type: string, row: string) => ({ version, type, row });
const row = (id: number, val: string, grp: string): string => `{"id":${id},"val":${val},"grp":"${grp}"}`;

describe.each([
  ['copy-on-write', {}],
  ['deletion vectors', { 'delta.enableDeletionVectors': 'true' }],
])('a table with a change feed, %s', (name, properties: Readonly<Record<string, string>>) => {
  it('is one version for each operation, with exactly the changed rows in the feed', async () => {
    const { table, results } = await sequence(`feed ${name}`, { ...properties, 'delta.enableChangeDataFeed': 'true' });
    expect(results).toEqual([
      { version: 2, affectedRows: 6n, updatedRows: 6n, deletedRows: 0n, insertedRows: 0n },
      { version: 3, affectedRows: 2n, updatedRows: 0n, deletedRows: 2n, insertedRows: 0n },
      { version: 4, affectedRows: 2n, updatedRows: 0n, deletedRows: 2n, insertedRows: 0n },
      { version: 5, affectedRows: 2n, updatedRows: 1n, deletedRows: 0n, insertedRows: 1n },
    ]);
    expect(await tables.rows(table)).toEqual([row(2, '200.0', 'a'), row(5, '15.0', 'c'), row(7, '700.0', 'd')]);
    expect(await changesOf(tables, table, 2, 5)).toEqual([
      ...[
        ['11.0', 1, 'a'],
        ['12.0', 2, 'a'],
        ['13.0', 3, 'b'],
        ['10.0', 4, 'b'],
        ['15.0', 5, 'c'],
        ['16.0', 6, 'c'],
      ].map(([val, id, grp]) => change(2, 'update_postimage', row(Number(id), String(val), String(grp)))),
      ...[
        ['1.0', 1, 'a'],
        ['2.0', 2, 'a'],
        ['3.0', 3, 'b'],
        ['null', 4, 'b'],
        ['5.0', 5, 'c'],
        ['6.0', 6, 'c'],
      ].map(([val, id, grp]) => change(2, 'update_preimage', row(Number(id), String(val), String(grp)))),
      change(3, 'delete', row(1, '11.0', 'a')),
      change(3, 'delete', row(6, '16.0', 'c')),
      change(4, 'delete', row(3, '13.0', 'b')),
      change(4, 'delete', row(4, '10.0', 'b')),
      change(5, 'insert', row(7, '700.0', 'd')),
      change(5, 'update_postimage', row(2, '200.0', 'a')),
      change(5, 'update_preimage', row(2, '12.0', 'a')),
    ]);
  });

  it('shows in its history what other engines show', async () => {
    const { table } = await sequence(`history ${name}`, properties);
    const entries = await table.history({});
    const [merge, partition, remove, update] = entries.map((entry) => entry.operationParameters);
    expect(update).toEqual({ predicate: '[]' });
    expect(remove).toEqual({ predicate: '["(id IN (1, 6))"]' });
    expect(partition).toEqual({ predicate: '["(grp = \'b\')"]' });
    expect(merge).toEqual({
      predicate: '["(id = id)"]',
      matchedPredicates: '[{"actionType":"update"}]',
      notMatchedPredicates: '[{"actionType":"insert"}]',
      notMatchedBySourcePredicates: '[]',
    });
  });
});

const anyText: unknown = expect.any(String);
const somePositive: unknown = expect.stringMatching(/^[1-9]/);

it('counts files, rows and bytes of a rewrite', async () => {
  const { table } = await sequence('metrics', { 'delta.enableChangeDataFeed': 'true' });
  const [merge, partition, remove, update] = (await table.history({})).map((entry) => entry.operationMetrics);
  const timed = { executionTimeMs: anyText, scanTimeMs: anyText, rewriteTimeMs: anyText };
  const noVectors = { numDeletionVectorsAdded: '0', numDeletionVectorsRemoved: '0', numDeletionVectorsUpdated: '0' };
  const bytes = { numAddedBytes: somePositive, numRemovedBytes: somePositive };
  expect(update).toEqual({
    ...timed,
    ...noVectors,
    ...bytes,
    numRemovedFiles: '3',
    numAddedFiles: '3',
    numAddedChangeFiles: '3',
    numCopiedRows: '0',
    numUpdatedRows: '6',
  });
  expect(remove).toEqual({
    ...timed,
    ...noVectors,
    ...bytes,
    numRemovedFiles: '2',
    numAddedFiles: '2',
    numAddedChangeFiles: '2',
    numCopiedRows: '2',
    numDeletedRows: '2',
  });
  expect(partition).toEqual({
    ...timed,
    ...noVectors,
    ...bytes,
    numAddedBytes: '0',
    numRemovedFiles: '1',
    numAddedFiles: '0',
    numAddedChangeFiles: '0',
    numCopiedRows: '0',
    numDeletedRows: '2',
  });
  expect(merge).toEqual({
    ...timed,
    materializeSourceTimeMs: anyText,
    numSourceRows: '2',
    numOutputRows: '2',
    numTargetRowsCopied: '0',
    numTargetRowsInserted: '1',
    numTargetRowsUpdated: '1',
    numTargetRowsMatchedUpdated: '1',
    numTargetRowsNotMatchedBySourceUpdated: '0',
    numTargetRowsDeleted: '0',
    numTargetRowsMatchedDeleted: '0',
    numTargetRowsNotMatchedBySourceDeleted: '0',
    numTargetFilesAdded: '2',
    numTargetFilesRemoved: '1',
    numTargetBytesAdded: somePositive,
    numTargetBytesRemoved: somePositive,
    numTargetChangeFilesAdded: '2',
    numTargetDeletionVectorsAdded: '0',
    numTargetDeletionVectorsRemoved: '0',
    numTargetDeletionVectorsUpdated: '0',
  });
});

it('commits nothing when no row is concerned', async () => {
  const { table } = await sequence('nothing', {});
  const nothing = { version: undefined, affectedRows: 0n, updatedRows: 0n, deletedRows: 0n, insertedRows: 0n };
  const { operations } = table;
  expect(await operations.delete({ condition: parseExpression('id = 99') })).toEqual(nothing);
  expect(await operations.delete({ condition: parseExpression("grp = 'zz'") })).toEqual(nothing);
  expect(await operations.update({ condition: parseExpression('id > 99'), assignments: [] })).toEqual(nothing);
  const source = await tables.query('SELECT 99 AS id');
  const condition = parseExpression('t.id = s.id');
  const merged = await operations.merge({
    source,
    targetAlias: 't',
    sourceAlias: 's',
    condition,
    clauses: [{ on: 'matched', action: 'delete' }],
  });
  expect(merged).toEqual(nothing);
  expect((await table.refresh()).version).toBe(5);
});
