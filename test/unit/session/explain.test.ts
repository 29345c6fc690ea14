import { expect, it } from 'vitest';
import { temporarySession } from '../../support/temporary-session.ts';

const tree = [
  'g: int, n: bigint',
  'Sort [n#_ DESC]',
  '+- Aggregate [g#_], [g#_, count(*) AS n#_]',
  '   +- Filter (id#_ > 1)',
  '      +- Table t, version 0 [id#_, g#_]',
];

it('shows the plan that text and calls make, with what columns it found, and what is read', async () => {
  await using bench = await temporarySession();
  const { session, printed } = bench;
  await session.sql('CREATE TABLE t (id BIGINT, g INT) USING delta');
  const [row] = await (
    await session.sql('EXPLAIN EXTENDED SELECT g, count(*) AS n FROM t WHERE id > 1 GROUP BY g ORDER BY n DESC')
  ).collect();
  const shown = row?.['plan'] as string;
  const [analyzed = '', physical = ''] = shown.replaceAll(/#\d+/g, '#_').split('\n\n== Physical Plan ==\n');
  expect(
    analyzed
      .split('\n')
      .slice(1)
      .map((line) => line.replace(/Table \S+,/, 'Table t,')),
  ).toEqual(tree);
  expect(physical).toContain('== Tables ==');
  await session.table('t').filter('id > 1').explain(true);
  expect(printed.join('')).toMatch(/^== Analyzed Logical Plan ==\nid: bigint, g: int\nFilter \(id#\d+ > 1\)\n\+- Table /);
  await session.table('t').explain();
  expect(printed.at(-1)).toMatch(/^== Physical Plan ==/);
  await expect(session.sql('EXPLAIN CODEGEN SELECT 1')).rejects.toThrow('EXPLAIN CODEGEN is not supported');
});

it('EXPLAIN of a statement that changes rows shows what it looks at, and changes nothing', async () => {
  await using bench = await temporarySession();
  const { session } = bench;
  await session.sql(
    "CREATE TABLE t (id INT, v INT DEFAULT 7) USING delta TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')",
  );
  await session.sql('INSERT INTO t VALUES (1, 1)');
  const statements: readonly (readonly [string, RegExp])[] = [
    ['INSERT INTO t VALUES (2, DEFAULT)', /INSERT `t`/u],
    ['INSERT OVERWRITE t SELECT 9, 9', /INSERT OVERWRITE `t`/u],
    ['UPDATE t SET v = v + 5, id = DEFAULT WHERE id = 1', /UPDATE `t`[^]*1 read/u],
    ['DELETE FROM t WHERE id > 5', /DELETE `t`[^]*1 pruned/u],
    ['DELETE FROM t', /DELETE `t`/u],
    ['DELETE FROM t WHERE id IN (SELECT 1)', /DELETE `t`/u],
    ['MERGE INTO t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN DELETE', /MERGE `t`/u],
    ['WITH s AS (SELECT 1 AS k) MERGE INTO t USING s ON t.id = s.k WHEN MATCHED THEN DELETE', /MERGE `t`/u],
  ];
  for (const [text, shown] of statements) {
    for (const form of ['', 'EXTENDED', 'FORMATTED', 'COST']) {
      const [row] = await (await session.sql(`EXPLAIN ${form} ${text}`)).collect();
      expect(row?.['plan']).toMatch(shown);
    }
  }
  expect(await session.table('t').collect()).toEqual([{ id: 1, v: 1 }]);
  expect(await (await session.sql('DESCRIBE HISTORY t')).count()).toBe(2);
  const unresolved = { errorClass: 'UNRESOLVED_COLUMN.WITH_SUGGESTION' };
  await expect(session.sql('EXPLAIN UPDATE t SET nope = 1')).rejects.toMatchObject(unresolved);
  await expect(session.sql('EXPLAIN DELETE FROM t WHERE nope = 1')).rejects.toMatchObject(unresolved);
  await expect(session.sql('EXPLAIN INSERT INTO none SELECT 1')).rejects.toMatchObject({ errorClass: 'TABLE_OR_VIEW_NOT_FOUND' });
  await expect(session.sql('EXPLAIN DROP TABLE t')).rejects.toMatchObject({ errorClass: 'PARSE_SYNTAX_ERROR' });
});

it('a temporary view has the names that it is given', async () => {
  await using bench = await temporarySession();
  const { session } = bench;
  await session.sql("CREATE TEMPORARY VIEW v (a COMMENT 'first', b) AS SELECT 1, 'x'");
  expect(await (await session.sql('SELECT b, a FROM v')).collect()).toEqual([{ b: 'x', a: 1 }]);
  const few = { errorClass: 'CREATE_VIEW_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS', sqlState: '21S01' };
  await expect(session.sql('CREATE OR REPLACE TEMPORARY VIEW v (a, b) AS SELECT 1')).rejects.toMatchObject(few);
  const many = { errorClass: 'CREATE_VIEW_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS' };
  await expect(session.sql('CREATE OR REPLACE TEMPORARY VIEW v (a) AS SELECT 1, 2')).rejects.toMatchObject(many);
  expect(await session.table('v').collect()).toEqual([{ a: 1, b: 'x' }]);
});
