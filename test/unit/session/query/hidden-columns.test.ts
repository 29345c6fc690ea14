import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AnalysisException } from '../../../../src/base/analysis-exception.ts';
import { parseSchema } from '../../../../src/expr/parse/parse-type.ts';
import { printExpression } from '../../../../src/expr/print-expression.ts';
import type { StructType } from '../../../../src/schema/types.ts';
import { openTestEngine, type TestEngine } from '../../../support/test-engine.ts';
import { translateQuery } from '../../../support/translate-query.ts';

let made: TestEngine;
beforeAll(async () => {
  made = await openTestEngine();
});
afterAll(() => made.close());

const schemas: Readonly<Record<string, StructType>> = {
  t: parseSchema('id BIGINT, s STRING'),
  u: parseSchema('id BIGINT, _pos STRING'),
};
const hidden = parseSchema('_pos BIGINT, _at STRUCT<x: INT>').fields;
const sqlOf: Readonly<Record<string, string>> = {
  t: `SELECT id, 's' || id AS s, id * 10 AS _pos, {'x': id::INTEGER} AS _at FROM range(1, 4) r(id)`,
  u: `SELECT id, 'own' AS _pos, {'x': -id::INTEGER} AS _at FROM range(2, 4) r(id)`,
};

/** Tables `t` and `u` with hidden columns `_pos` and `_at`; `u` has a column `_pos` of its own. */
async function run(text: string): Promise<{ readonly columns: readonly string[]; readonly rows: unknown; readonly filters: unknown }> {
  const filters: (string | undefined)[] = [];
  const query = await translateQuery(text, {
    engine: made.engine,
    now: { micros: 0n },
    resolve: ({ parts }) => {
      const name = parts.at(-1) ?? '';
      const schema = schemas[name] ?? { kind: 'struct', fields: [] };
      return Promise.resolve({
        schema,
        hidden: hidden.filter((field) => !schema.fields.some((column) => column.name === field.name)),
        relation: (filter) => {
          filters.push(filter === undefined ? undefined : printExpression(filter));
          return Promise.resolve({ sql: sqlOf[name] ?? '', schema });
        },
      });
    },
  });
  const columns = query.schema.fields.map(({ name }) => name);
  const rows = await made.rows(await query.relation());
  return { columns, rows: rows.map((row) => columns.map((name) => row[name])), filters };
}

describe('hidden columns', () => {
  it.each([
    ['SELECT * FROM t', ['id', 's']],
    ['SELECT x.* FROM t x', ['id', 's']],
    ['SELECT *, _pos AS p FROM t', ['id', 's', 'p']],
    ['SELECT _at.* FROM t', ['x']],
    ['SELECT struct(*) AS r, _pos AS p FROM t', ['r', 'p']],
    ['SELECT * FROM t a NATURAL JOIN u b WHERE a._pos > 0', ['id', 's', '_pos']],
    ['SELECT * FROM t a JOIN t b USING (id) WHERE a._pos = b._pos', ['id', 's', 's']],
  ])('%s has the columns %j', async (text, columns) => {
    expect((await run(text)).columns).toEqual(columns);
  });

  it.each<[string, readonly (readonly unknown[])[]]>([
    ['SELECT _POS FROM t WHERE _pos > 10 ORDER BY _pos DESC', [[30n], [20n]]],
    ['SELECT e._at.x FROM t e ORDER BY e._pos LIMIT 1', [[1]]],
    [
      'SELECT _pos > 10 AS g, count(*) FROM t GROUP BY _pos > 10 ORDER BY g',
      [
        [false, 1n],
        [true, 2n],
      ],
    ],
    // A column that is shown comes first, the hidden one of the same name is to be had by its table.
    [
      'SELECT _pos, t._pos AS p FROM t JOIN u ON t.id = u.id ORDER BY p',
      [
        ['own', 20n],
        ['own', 30n],
      ],
    ],
    ['SELECT a.id FROM t a LEFT JOIN t b ON a.id = b.id AND b._pos = 10 WHERE b._pos IS NULL ORDER BY 1', [[2n], [3n]]],
    ['SELECT id FROM t a WHERE EXISTS (SELECT 1 FROM t b WHERE b._pos = a._pos + 10) ORDER BY id', [[1n], [2n]]],
    ['SELECT p FROM (SELECT _pos AS p FROM t) ORDER BY p LIMIT 1', [[10n]]],
    ['SELECT _pos FROM t AS x(_pos, b) ORDER BY 1 LIMIT 1', [[1n]]],
    ['SELECT id AS _pos FROM t ORDER BY _pos DESC LIMIT 1', [[3n]]],
    ['SELECT v FROM t LATERAL VIEW explode(array(_pos, 0L)) e AS v WHERE id = 1 ORDER BY v', [[0n], [10n]]],
  ])('%s', async (text, rows) => {
    expect((await run(text)).rows).toEqual(rows);
  });

  it.each([
    ['SELECT _pos FROM (SELECT * FROM t) q', 'UNRESOLVED_COLUMN.WITH_SUGGESTION'],
    ['WITH q AS (SELECT * FROM t) SELECT _pos FROM q', 'UNRESOLVED_COLUMN.WITH_SUGGESTION'],
    ['SELECT _pos FROM t AS x(a, b)', 'UNRESOLVED_COLUMN.WITH_SUGGESTION'],
    ['SELECT * EXCEPT (_pos) FROM t', 'UNRESOLVED_COLUMN.WITH_SUGGESTION'],
    ['SELECT 1 FROM t a JOIN t b USING (_pos)', 'UNRESOLVED_USING_COLUMN_FOR_JOIN'],
    ['SELECT _pos FROM t a CROSS JOIN t b', 'AMBIGUOUS_REFERENCE'],
    ['SELECT _at.y FROM t', 'FIELD_NOT_FOUND'],
  ])('%s is refused with %s', async (text, errorClass) => {
    const refusal = await run(text).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(AnalysisException);
    expect(refusal).toMatchObject({ errorClass });
  });

  it('are proposed by no error', async () => {
    await expect(run('SELECT _po FROM t')).rejects.toThrow('[`id`, `s`]');
  });

  it('have conditions that reach their source', async () => {
    expect((await run('SELECT id FROM t x WHERE x._at.x = 2 AND id > 0')).filters).toEqual(['((_at.x = 2) AND (id > 0))']);
  });
});
