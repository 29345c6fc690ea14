import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AnalysisException } from '../../../../src/base/analysis-exception.ts';
import type { ParameterValues } from '../../../../src/expr/bind-parameters.ts';
import { parseSchema } from '../../../../src/expr/parse/parse-type.ts';
import { printExpression } from '../../../../src/expr/print-expression.ts';
import { describeFields } from '../../../../src/schema/describe-type.ts';
import { evaluationError } from '../../../../src/session/run/evaluation-error.ts';
import type { Relation } from '../../../../src/table/relation.ts';
import { openTestEngine, type TestEngine } from '../../../support/test-engine.ts';
import { type Reference, translateQuery } from '../../../support/translate-query.ts';

let made: TestEngine;
const tables = new Map<string, Relation>();

beforeAll(async () => {
  made = await openTestEngine();
  const people = parseSchema(
    'id BIGINT, name STRING, pay DECIMAL(10,2), tags ARRAY<STRING>, marks MAP<STRING, INT>, home STRUCT<city: STRING, zip: INT>, seen TIMESTAMP',
  );
  tables.set(
    'people',
    await made.hold(people, [
      {
        id: 1n,
        name: 'ann',
        pay: '1.50',
        tags: ['a', 'b'],
        marks: new Map([['x', 5]]),
        home: { city: 'Oslo', zip: 1 },
        seen: 0n,
      },
      { id: 2n, name: null, pay: '2.25', tags: [], marks: null, home: null, seen: 1n },
      { id: 3n, name: 'cid', pay: null, tags: null, marks: new Map(), home: { city: null, zip: null }, seen: null },
    ]),
  );
  const orders = parseSchema('id BIGINT, item STRING, `Order` INT');
  tables.set(
    'orders',
    await made.hold(orders, [
      { id: 1n, item: 'one', Order: 1 },
      { id: 1n, item: 'uno', Order: 2 },
      { id: 4n, item: 'four', Order: 4 },
    ]),
  );
});
afterAll(() => made.close());

interface Answer {
  readonly columns: string;
  readonly rows: readonly (readonly unknown[])[];
  /** What each source was asked for: its reference, and the condition it may prune by. */
  readonly sources: readonly { readonly reference: Reference; readonly filter: string | undefined }[];
}

/** As a session runs it, which says what the engine's errors mean. */
async function run(text: string, parameters?: ParameterValues): Promise<Answer> {
  try {
    return await translated(text, parameters);
  } catch (error) {
    throw evaluationError(error, false);
  }
}

async function translated(text: string, parameters: ParameterValues | undefined): Promise<Answer> {
  const sources: { reference: Reference; filter: string | undefined }[] = [];
  const query = await translateQuery(text, {
    engine: made.engine,
    now: { micros: 1_700_000_000_000_000n },
    parameters,
    resolve: (reference) => {
      const relation = tables.get(reference.parts.at(-1)?.toLowerCase() ?? '');
      if (relation === undefined) {
        return Promise.reject(new AnalysisException({ errorClass: 'TABLE_OR_VIEW_NOT_FOUND', message: reference.parts.join('.') }));
      }
      return Promise.resolve({
        schema: relation.schema,
        relation: (filter) => {
          sources.push({ reference, filter: filter === undefined ? undefined : printExpression(filter) });
          return Promise.resolve(relation);
        },
      });
    },
  });
  const relation = await query.relation();
  const rows = await made.rows(relation);
  return {
    columns: describeFields(query.schema.fields),
    rows: rows.map((row) => query.schema.fields.map((field) => row[field.name])),
    sources,
  };
}

async function rowsOf(text: string, parameters?: ParameterValues): Promise<readonly (readonly unknown[])[]> {
  return (await run(text, parameters)).rows;
}

describe('a query', () => {
  it.each<[string, readonly (readonly unknown[])[]]>([
    [
      'SELECT id, name AS n FROM people WHERE id > 1 ORDER BY n DESC',
      [
        [3n, 'cid'],
        [2n, null],
      ],
    ],
    ['SELECT id FROM people ORDER BY name', [[2n], [1n], [3n]]],
    ['SELECT id FROM people ORDER BY name NULLS LAST, id DESC LIMIT 2 OFFSET 1', [[3n], [2n]]],
    ['SELECT count(*), sum(id), max(name), avg(`Order`) FROM people JOIN orders USING (id)', [[2n, 2n, 'ann', 1.5]]],
    [
      'SELECT p.id, o.item FROM people p, orders o WHERE p.id = o.id ORDER BY 2',
      [
        [1n, 'one'],
        [1n, 'uno'],
      ],
    ],
    [
      'SELECT * FROM (SELECT id FROM people) LEFT JOIN orders USING (id) ORDER BY id, item',
      [
        [1n, 'one', 1],
        [1n, 'uno', 2],
        [2n, null, null],
        [3n, null, null],
      ],
    ],
    [
      'SELECT id, item FROM people FULL JOIN orders USING (id) WHERE id > 2 ORDER BY id',
      [
        [3n, null],
        [4n, 'four'],
      ],
    ],
    ['SELECT people.id AS p, orders.id AS o FROM people RIGHT JOIN orders USING (id) WHERE orders.id = 4', [[null, 4n]]],
    ['SELECT orders.* FROM people JOIN orders USING (id) ORDER BY item LIMIT 1', [[1n, 'one', 1]]],
    ['SELECT id FROM people LEFT SEMI JOIN orders ON people.id = orders.id', [[1n]]],
    ['SELECT id FROM people ANTI JOIN orders ON people.id = orders.id ORDER BY id', [[2n], [3n]]],
    ['SELECT id, count(*) AS c FROM orders GROUP BY id HAVING c > 1', [[1n, 2n]]],
    [
      "SELECT CASE WHEN id > 1 THEN 'many' ELSE 'one' END AS size, count(1) FROM people GROUP BY size ORDER BY 1",
      [
        ['many', 2n],
        ['one', 1n],
      ],
    ],
    [
      'SELECT id % 2 AS odd, sum(id) FROM people GROUP BY 1 ORDER BY odd',
      [
        [0n, 2n],
        [1n, 4n],
      ],
    ],
    [
      'SELECT id, sum(`Order`) FROM orders GROUP BY ROLLUP (id) ORDER BY id',
      [
        [null, 7n],
        [1n, 3n],
        [4n, 4n],
      ],
    ],
    ['SELECT DISTINCT id FROM orders ORDER BY id', [[1n], [4n]]],
    [
      'WITH a AS (SELECT id FROM people WHERE id < 3), b(x) AS (SELECT id + 10 FROM a) SELECT x FROM b UNION ALL SELECT id FROM a ORDER BY x',
      [[1n], [2n], [11n], [12n]],
    ],
    ['SELECT id FROM people EXCEPT SELECT id FROM orders ORDER BY id', [[2n], [3n]]],
    ['(SELECT id FROM people) INTERSECT (SELECT id FROM orders)', [[1n]]],
    ['SELECT id FROM people MINUS (SELECT id FROM orders UNION SELECT 2)', [[3n]]],
    ['SELECT id FROM people WHERE id IN (SELECT id FROM orders)', [[1n]]],
    ['SELECT id FROM people WHERE id NOT IN (SELECT id FROM orders) ORDER BY id', [[2n], [3n]]],
    ["SELECT id FROM people WHERE EXISTS (SELECT 1 FROM orders WHERE orders.id = people.id AND item = 'uno')", [[1n]]],
    [
      'SELECT id, (SELECT max(item) FROM orders o WHERE o.id = p.id) FROM people p ORDER BY id',
      [
        [1n, 'uno'],
        [2n, null],
        [3n, null],
      ],
    ],
    ["SELECT home.city, marks['x'], tags[0], size(tags) FROM people WHERE id = 1", [['Oslo', 5, 'a', 2]]],
    ['SELECT home.* FROM people WHERE id = 1', [['Oslo', 1]]],
    ['SELECT * EXCEPT (tags, marks, home, seen, pay) FROM people WHERE id = 1', [[1n, 'ann']]],
    [
      'SELECT id, explode(tags) AS tag FROM people ORDER BY tag',
      [
        [1n, 'a'],
        [1n, 'b'],
      ],
    ],
    [
      'SELECT id, at, tag FROM people LATERAL VIEW OUTER posexplode(tags) t AS at, tag ORDER BY id, at',
      [
        [1n, 0, 'a'],
        [1n, 1, 'b'],
        [2n, null, null],
        [3n, null, null],
      ],
    ],
    ['SELECT k, v FROM people LATERAL VIEW explode(marks) m AS k, v', [['x', 5]]],
    ["SELECT transform(tags, t -> concat(t, '!')), filter(tags, t -> t > 'a') FROM people WHERE id = 1", [[['a!', 'b!'], ['b']]]],
    [
      'SELECT item, rank() OVER w FROM orders WINDOW w AS (PARTITION BY id ORDER BY `Order` DESC) ORDER BY item',
      [
        ['four', 1],
        ['one', 2],
        ['uno', 1],
      ],
    ],
    [
      'SELECT sum(`Order`) OVER (ORDER BY `Order` ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s FROM orders ORDER BY s',
      [[1n], [3n], [6n]],
    ],
    ['SELECT item FROM orders QUALIFY row_number() OVER (PARTITION BY id ORDER BY `Order` DESC) = 1 ORDER BY item', [['four'], ['uno']]],
    ['FROM people SELECT id WHERE id > 2', [[3n]]],
    [
      "VALUES (1, 'a'), (2, NULL)",
      [
        [1, 'a'],
        [2, null],
      ],
    ],
    ["SELECT n + 1, s FROM VALUES (1, 'a') AS t(n, s)", [[2, 'a']]],
    ['SELECT id FROM range(1, 10, 4)', [[1n], [5n], [9n]]],
    [
      'SELECT p.id, o.n FROM people p JOIN LATERAL (SELECT count(*) AS n FROM orders WHERE orders.id = p.id) o ORDER BY 1',
      [
        [1n, 2n],
        [2n, 0n],
        [3n, 0n],
      ],
    ],
    ['SELECT (SELECT 1) + 1, 2 IN (SELECT 3), EXISTS (SELECT 1 WHERE false)', [[2, false, false]]],
    ["SELECT current_timestamp() = TIMESTAMP '2023-11-14 22:13:20', current_date", [[true, 19_675]]],
    ["SELECT 7 / 2, 7 DIV 2, -7 % 3, CAST(1.9 AS INT), 1L, 1e1, X'ff'", [[3.5, 3n, -1, 1, 1n, 10, new Uint8Array([255])]]],
    ['SELECT 1 -- a comment ; \n + /* nested /* */ */ 1', [[2]]],
    [
      'TABLE orders',
      [
        [1n, 'one', 1],
        [1n, 'uno', 2],
        [4n, 'four', 4],
      ],
    ],
  ])('%s', async (text, expected) => {
    expect(await rowsOf(text)).toEqual(expected);
  });

  it('names and types its columns as Spark does', async () => {
    expect((await run("SELECT id, ID + 1, count(*), sum(id), upper(name) AS u, 1.5, id / 2, 'x' FROM people GROUP BY ALL")).columns).toBe(
      'id:long,(ID + 1):long,count(1):long not null,sum(id):long,u:string,1.5:decimal(2,1) not null,(id / 2):double,x:string not null',
    );
    expect((await run('SELECT p.*, o.id FROM (SELECT id FROM people) p JOIN orders o ON p.id = o.id')).columns).toBe('id:long,id:long');
  });

  it('takes parameters by name and by place, in queries inside of it too', async () => {
    expect(await rowsOf('SELECT id FROM people WHERE id = :wanted AND name = :name', { wanted: 1, name: 'ann' })).toEqual([[1n]]);
    expect(await rowsOf('SELECT ?, (SELECT ?), ?', [1, 2, "it's"])).toEqual([[1, 2, "it's"]]);
    await expect(run('SELECT :missing')).rejects.toMatchObject({ errorClass: 'UNBOUND_SQL_PARAMETER' });
  });
});

describe('sources', () => {
  it('are named as they were written, with the point in time', async () => {
    const references = async (text: string): Promise<unknown> =>
      (await run(text)).sources.map(({ reference: { parts, at, changes } }) => ({
        parts,
        ...(at === undefined ? {} : { at }),
        ...(changes === undefined ? {} : { changes }),
      }));
    expect(await references('SELECT 1 FROM main.`people` VERSION AS OF 3')).toEqual([
      { parts: ['main', 'people'], at: { kind: 'version', version: 3n } },
    ]);
    expect(await references('SELECT 1 FROM a.b.c.people FOR SYSTEM_VERSION AS OF 3 x')).toEqual([
      { parts: ['a', 'b', 'c', 'people'], at: { kind: 'version', version: 3n } },
    ]);
    expect(await references('SELECT 1 FROM people@v12 AS p')).toEqual([{ parts: ['people'], at: { kind: 'version', version: 12n } }]);
    const micros = 1_704_067_200_000_000n;
    expect(await references("SELECT 1 FROM people TIMESTAMP AS OF '2024-01-01'")).toEqual([
      { parts: ['people'], at: { kind: 'timestamp', micros, text: '2024-01-01' } },
    ]);
    expect(await references("SELECT 1 FROM people FOR TIMESTAMP AS OF DATE '2024-01-02' - INTERVAL 1 DAY")).toMatchObject([
      { at: { micros } },
    ]);
    expect(await references("SELECT 1 FROM table_changes('db.people', 1, '2024-01-01')")).toEqual([
      {
        parts: ['db', 'people'],
        changes: { from: 1, until: Number(micros / 86_400_000_000n) },
      },
    ]);
    await expect(run("SELECT 1 FROM people TIMESTAMP AS OF 'soon'")).rejects.toMatchObject({
      errorClass: 'INVALID_TIME_TRAVEL_TIMESTAMP_EXPR.INPUT',
    });
  });

  it.each<[string, readonly (string | undefined)[]]>([
    ['SELECT 1 FROM people WHERE id > 1 AND name IS NOT NULL', ['((id > 1) AND (name IS NOT NULL))']],
    ["SELECT 1 FROM people p JOIN orders o ON p.id = o.id AND o.item = 'x' WHERE p.id = 1", ['(id = 1)', "(item = 'x')"]],
    [
      "SELECT 1 FROM people p LEFT JOIN orders o ON p.id = o.id AND o.item = 'x' AND p.id = 2 WHERE p.id = 1 AND o.item IS NULL",
      ['(id = 1)', "(item = 'x')"],
    ],
    ['SELECT 1 FROM people p RIGHT JOIN orders o ON p.id = o.id WHERE p.id IS NULL AND o.id = 4', [undefined, '(id = 4)']],
    ['SELECT 1 FROM people p FULL JOIN orders o ON p.id = 1 WHERE p.id = 1', [undefined, undefined]],
    ['SELECT 1 FROM people p LEFT ANTI JOIN orders o ON p.id = o.id AND p.id > 1 AND o.id > 1', [undefined, '(id > 1)']],
    ['SELECT * FROM (SELECT id AS k, name FROM people WHERE id < 9) WHERE k = 2', ['((id < 9) AND (id = 2))']],
    ['WITH c AS (SELECT id AS k FROM people) SELECT * FROM c WHERE k = 2', ['(id = 2)']],
    ['WITH c AS (SELECT id AS k FROM people) SELECT * FROM c WHERE k = 2 UNION ALL SELECT * FROM c', [undefined]],
    ['WITH a AS (SELECT id FROM people), b AS (WITH c AS (SELECT id FROM a) SELECT * FROM c) SELECT * FROM b WHERE id = 2', ['(id = 2)']],
    ['SELECT * FROM (SELECT id, count(*) AS n FROM people GROUP BY id) WHERE id = 2 AND n > 1', ['(id = 2)']],
    ['SELECT * FROM (SELECT id, count(*) AS n FROM people GROUP BY ROLLUP (id)) WHERE id = 2', [undefined]],
    ['SELECT * FROM (SELECT id FROM people LIMIT 1) WHERE id = 2', [undefined]],
    ['SELECT * FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM people) WHERE id = 2', [undefined]],
    ['SELECT * FROM (SELECT id FROM people UNION ALL SELECT id FROM orders) WHERE id = 2', ['(id = 2)', '(id = 2)']],
    ['SELECT 1 FROM people WHERE home.zip = 1', ['(home.zip = 1)']],
    ["SELECT 1 FROM people WHERE id = 1 OR name = 'x'", ["((id = 1) OR (name = 'x'))"]],
    ['SELECT 1 FROM people WHERE rand() < id', [undefined]],
    ['SELECT 1 FROM people WHERE id = (SELECT 1)', [undefined]],
    [
      "SELECT 1 FROM people p WHERE EXISTS (SELECT 1 FROM orders o WHERE o.id = p.id AND o.item = 'a' AND p.id = 3)",
      [undefined, "(item = 'a')"],
    ],
  ])('are asked for what the query can use of them: %s', async (text, expected) => {
    expect((await run(text)).sources.map((source) => source.filter)).toEqual(expected);
  });
});

describe('what is refused', () => {
  it.each<[string, string, RegExp]>([
    ['SELECT nope FROM people', 'UNRESOLVED_COLUMN.WITH_SUGGESTION', /`nope` cannot be resolved/u],
    ['SELECT id FROM people JOIN orders', 'AMBIGUOUS_REFERENCE', /`people`\.`id`, `orders`\.`id`/u],
    ['SELECT id FROM missing', 'TABLE_OR_VIEW_NOT_FOUND', /missing/u],
    ['SELECT id FROM people GROUP BY name', 'MISSING_AGGREGATION', /"id"/u],
    ['SELECT id FROM people WHERE count(*) > 1', 'INVALID_WHERE_CONDITION', /aggregate/u],
    ['SELECT id FROM people UNION SELECT id, item FROM orders', 'NUM_COLUMNS_MISMATCH', /1 columns and the second input has 2/u],
    ['SELECT id FROM people ORDER BY 2', 'ORDER_BY_POS_OUT_OF_RANGE', /position 2/u],
    ['SELECT id FROM people AS p(a, b)', 'ASSIGNMENT_ARITY_MISMATCH', /assigned or aliased: 2 does not match/u],
    ['SELECT id FROM people p JOIN orders o USING (nope)', 'UNRESOLVED_USING_COLUMN_FOR_JOIN', /nope/u],
    ['SELECT explode(id) FROM people', 'DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE', /explode/u],
    ['SELECT DISTINCT name FROM people ORDER BY pay', 'UNRESOLVED_COLUMN.WITH_SUGGESTION', /`pay` cannot be resolved/u],
    ['WITH c(x) AS (SELECT id, name FROM people) SELECT x FROM c', 'ASSIGNMENT_ARITY_MISMATCH', /1 does not match .*: 2/u],
    ['SELECT id FROM people HAVING id > 1', 'MISSING_GROUP_BY', /column "id"/u],
    ['SELECT * FROM VALUES (1), (1, 2)', 'INVALID_INLINE_TABLE.NUM_COLUMNS_MISMATCH', /expected 1/u],
    ['SELECT sum(id) OVER w FROM people', 'MISSING_WINDOW_SPECIFICATION', /w is not defined/u],
    [
      'SELECT * FROM VALUES (1), ((SELECT max(id) FROM people))',
      'UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.SCALAR_SUBQUERY_IN_VALUES',
      /in the VALUES clause/,
    ],
  ])('%s', async (text, errorClass, message) => {
    await expect(run(text))
      .rejects.toMatchObject({ name: 'AnalysisException', errorClass, message: expect.stringMatching(message) as string })
      .catch(async (error: unknown) => {
        // Syntax has an exception of its own, of the same family.
        if (errorClass !== 'MISSING_WINDOW_SPECIFICATION') throw error;
        await expect(run(text)).rejects.toMatchObject({ name: 'ParseException', errorClass });
      });
  });

  it.each<[string, number, RegExp]>([
    ['SELECT id FORM people', 10, /expected FROM/u],
    ['SELECT id FROM people WHRE id = 1', 22, /WHERE/u],
    ['SELECT id FROM people WHERE', 27, /an expression/u],
    ['SELECT id FROM (SELECT id FROM people', 37, /'\)'/u],
    ['SELECT id FROM people)', 21, /the end of the statement/u],
    ["SELECT 'open", 7, /./u],
    ['SELECT id FROM people p TABLESAMPLE (10 PERCENT)', 24, /./u],
    ['WITH RECURSIVE r MAX RECURSION 5 AS (SELECT 1) SELECT * FROM r', 17, /./u],
  ])('with the place in the text: %s', async (text, offset, message) => {
    await expect(run(text)).rejects.toMatchObject({
      name: 'ParseException',
      sqlState: '42601',
      position: { offset },
      message: expect.stringMatching(message) as string,
    });
  });

  it.each([
    "SELECT read_text('/etc/passwd')",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT getenv('HOME')",
    'SELECT * FROM duckdb_settings()',
    'SELECT * FROM pragma_version()',
    "SELECT current_setting('temp_directory')",
    'SELECT * FROM held.rows_1',
    'SELECT 1; DROP TABLE people',
    "COPY people TO '/tmp/x'",
  ])('whatever reaches outside: %s', async (text) => {
    await expect(run(text)).rejects.toBeInstanceOf(AnalysisException);
  });

  it('nothing a user writes reaches the engine as text', async () => {
    const hostile = ['"', "'", '`', '"; DROP SCHEMA held; --', "x' || getenv('HOME') || '", '/*', '--', 'é"\'', 'a.b', '\\', '"."'];
    for (const name of hostile) {
      const quoted = `\`${name.replaceAll('`', '``')}\``;
      const answer = await run(`SELECT q.${quoted} FROM (SELECT :value AS ${quoted}) q WHERE q.${quoted} = :value ORDER BY ${quoted}`, {
        value: name,
      });
      expect(answer.rows).toEqual([[name]]);
    }
  });
});
