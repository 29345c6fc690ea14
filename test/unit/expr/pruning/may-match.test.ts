import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bindExpression } from '../../../../src/expr/bind-expression.ts';
import type { Expression, Literal } from '../../../../src/expr/expression.ts';
import { parseExpression } from '../../../../src/expr/parse/parse-expression.ts';
import { parseSchema } from '../../../../src/expr/parse/parse-type.ts';
import { printLiteral } from '../../../../src/expr/print-expression.ts';
import type { ColumnFacts, FileFacts } from '../../../../src/expr/pruning/file-facts.ts';
import { mayMatch } from '../../../../src/expr/pruning/may-match.ts';
import { compareOrdered, compareUtf8, type Ordered } from '../../../../src/expr/pruning/ordered-values.ts';
import { columnPathSql, expressionSql, literalSql, quoteName, typeSql } from '../../../../src/expr/sql/engine-sql.ts';
import { triesOf } from '../../../support/property/property-runs.ts';
import { TestEngine } from '../engine-fixture.ts';

const schema = parseSchema(
  'id BIGINT, n INT, d DOUBLE, f FLOAT, x DECIMAL(6,2), s STRING, dt DATE, ts TIMESTAMP, b BOOLEAN, bin BINARY, st STRUCT<a: INT>',
);

function bound(text: string): Expression {
  return bindExpression(parseExpression(text), [{ schema }]);
}

function facts(columns: Readonly<Record<string, ColumnFacts>>, rowCount: number | undefined = 10): FileFacts {
  return { rowCount, column: (path) => columns[path.join('.')] };
}

const file = facts({
  id: { min: 10n, max: 20n, nullCount: 0 },
  n: { min: 5n, max: 5n, nullCount: 0 },
  d: { min: 1, max: 2, nullCount: 0 },
  f: { min: 0.1, max: 0.1, nullCount: 0, mayHoldNaN: false },
  x: { min: 150n, max: 1000n, nullCount: 1 },
  s: { min: 'apple', max: 'cherry', nullCount: 0 },
  dt: { min: 19_000n, max: 19_001n, nullCount: 0 },
  ts: { min: 0n, max: 1_000_000n, nullCount: 0 },
  b: { min: true, max: true, nullCount: 0 },
  bin: { nullCount: 10 },
  'st.a': { min: 1n, max: 3n, nullCount: 2 },
});

describe('a file is pruned', () => {
  it.each([
    'id = 9',
    '21 <= id',
    'id > 20',
    'id < 10',
    'NOT id <= 20',
    'id <=> 5',
    'id <=> NULL',
    'id = NULL',
    'id IS NULL',
    'id IN (1, 2, 9, 21)',
    "id = '7'",
    'id = 20.5',
    'id > 20.0D',
    'id BETWEEN 21 AND 30',
    'n <> 5',
    'n NOT IN (4, 5)',
    'n IS DISTINCT FROM 5',
    'NOT (n = 5 OR id = 1)',
    '(n = 5 AND id = 1) OR id > 30',
    'd = 3',
    'd < 1',
    'd BETWEEN 3 AND 4',
    'f <> CAST(0.1 AS FLOAT) AND f > 1',
    'x < 1.5',
    'x = 10.01',
    'x >= 11',
    "s = 'aardvark'",
    "s LIKE 'd%'",
    "s LIKE 'cherry pie%'",
    "startswith(s, 'b') AND s < 'apple'",
    "dt = '2022-01-10'",
    "dt >= DATE '2022-01-10'",
    "dt > date_add(DATE '2022-01-08', 1)",
    "dt < CAST('2022-01-08' AS DATE)",
    "ts > '1970-01-01 00:00:01'",
    "ts >= TIMESTAMP '1970-01-01 00:00:02' - INTERVAL '0.5' SECOND",
    'NOT b',
    'b = false',
    'b IS NOT TRUE',
    'bin IS NOT NULL',
    'st.a > 3',
    'id = 5 AND unknown_to_pruning(n) > 1',
    'false',
    'NULL',
  ])('by %s', (text) => {
    const condition = text.includes('unknown_to_pruning') ? text.replace('unknown_to_pruning', 'abs') : text;
    expect(mayMatch(bound(condition), file)).toBe(false);
  });
});

describe('a file is kept', () => {
  it.each([
    'id = 10',
    'id >= 20',
    "id = 'x'",
    'abs(id) = 1',
    'id + 1 = 0',
    'id = n',
    'd > 5',
    'd = 1.5',
    'f = 0.1',
    'x IS NULL',
    'NOT (x > 100)  OR x IS NULL',
    "s LIKE 'b%'",
    "s LIKE '%z'",
    "s LIKE 'che_%'",
    "s RLIKE '^z'",
    "s NOT LIKE 'a%'",
    'bin IS NULL',
    'st.a IS NULL',
    'st IS NULL',
    'b',
    'id IN (1, 15)',
    'id NOT IN (15)',
    'CASE WHEN id = 1 THEN true END',
    'true',
  ])('by %s', (text) => {
    expect(mayMatch(bound(text), file)).toBe(true);
  });

  it('by a comparison with a bound that may be cut', () => {
    const cut = facts({ s: { min: 'abc', max: 'abd', nullCount: 0, mayBeTruncated: true } });
    expect(mayMatch(bound("s > 'abd'"), cut)).toBe(true);
    expect(mayMatch(bound("s = 'abdzzz'"), cut)).toBe(true);
    expect(mayMatch(bound("s = 'abe'"), cut)).toBe(false);
    expect(mayMatch(bound("s <> 'abc'"), facts({ s: { min: 'abc', max: 'abc', nullCount: 0, mayBeTruncated: true } }))).toBe(true);
  });

  it('when nothing is known', () => {
    expect(mayMatch(bound('id = 1'), facts({}))).toBe(true);
    expect(mayMatch(bound('id IS NULL'), facts({ id: {} }, undefined))).toBe(true);
    expect(mayMatch(bound('id IS NOT NULL'), facts({ id: { allNull: true } }, undefined))).toBe(false);
    expect(mayMatch(bound('true'), facts({}, 0))).toBe(false);
  });
});

it('texts are ordered as their UTF-8 bytes are', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (left, right) => {
      expect(Math.sign(compareUtf8(left, right))).toBe(Math.sign(Buffer.compare(Buffer.from(left), Buffer.from(right))));
    }),
  );
});

describe('against rows', () => {
  let engine: TestEngine;
  beforeAll(async () => {
    engine = await TestEngine.open();
  });
  afterAll(() => {
    engine.close();
  });

  // The seed stands in the message of a failure.
  it('no file is pruned that holds a row of the condition', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(rowOf, { minLength: 1, maxLength: 4 }),
        fc.array(conditionOf, { minLength: 30, maxLength: 30 }),
        fc.boolean(),
        async (rows, texts, cut) => {
          const values = rows.map(
            (row) =>
              `SELECT ${columns.map((name) => `CAST(${literalSql(row[name])} AS ${typeSql(typeOf(name))}) AS ${quoteName(name)}`).join(', ')}`,
          );
          const conditions = texts.map(bound);
          const counts = conditions.map((condition) => `count_if(${expressionSql(condition, (path) => columnPathSql(path))})`);
          const [found = []] = await engine.rows(`SELECT ${counts.join(', ')} FROM (${values.join(' UNION ALL ')})`);
          const known = factsOf(rows, cut);
          const lost = texts.filter((_, index) => Number(found[index]) > 0 && !mayMatch(conditions[index]!, known));
          expect(lost).toEqual([]);
        },
      ),
      { numRuns: triesOf(250) },
    );
  });
});

const columns = ['id', 'd', 'x', 's', 'dt', 'ts', 'b'] as const;
type Name = (typeof columns)[number];
type Row = Readonly<Record<Name, Literal>>;

const nothing: Literal = { type: 'null' };
const orNull = (arbitrary: fc.Arbitrary<Literal>): fc.Arbitrary<Literal> =>
  fc.oneof({ weight: 5, arbitrary }, { weight: 1, arbitrary: fc.constant(nothing) });
const small = fc.integer({ min: -3, max: 3 });
const valuesOf: Readonly<Record<Name, fc.Arbitrary<Literal>>> = {
  id: small.map((value): Literal => ({ type: 'integer', value: BigInt(value), width: 'long' })),
  d: fc.constantFrom(-1.5, -0, 0, 0.1, 2, Number.NaN, Number.POSITIVE_INFINITY).map((value): Literal => ({ type: 'double', value })),
  x: fc.integer({ min: -250, max: 250 }).map((value): Literal => ({ type: 'decimal', unscaled: BigInt(value), precision: 6, scale: 2 })),
  s: fc.constantFrom('', 'a', 'ab', 'abc', 'b', 'é', '\u{1f600}', '\uff5e', 'a%').map((value): Literal => ({ type: 'string', value })),
  dt: small.map((days): Literal => ({ type: 'date', days })),
  ts: small.map((days): Literal => ({ type: 'timestamp', micros: BigInt(days) * 43_200_000_000n })),
  b: fc.boolean().map((value): Literal => ({ type: 'boolean', value })),
};
const rowOf: fc.Arbitrary<Row> = fc.record({
  id: orNull(valuesOf.id),
  d: orNull(valuesOf.d),
  x: orNull(valuesOf.x),
  s: orNull(valuesOf.s),
  dt: orNull(valuesOf.dt),
  ts: orNull(valuesOf.ts),
  b: orNull(valuesOf.b),
});

/** Literals a column may be compared with, of its own and of other types. */
function literalFor(name: Name): fc.Arbitrary<string> {
  const own = orNull(valuesOf[name]).map(printLiteral);
  switch (name) {
    case 'id':
      return fc.oneof(own, fc.constantFrom('1.5', '-1.0D', "'2'", '9223372036854775807'));
    case 'x':
      return fc.oneof(own, fc.constantFrom('1', '-1.255', '0.5D'));
    case 'd':
      return fc.oneof(own, fc.constantFrom('1', '0.1', '1.5'));
    case 'dt':
      return fc.oneof(own, fc.constantFrom("'1970-01-02'", "TIMESTAMP '1970-01-01 12:00:00'", "date_add(DATE '1970-01-01', 1)"));
    case 'ts':
      return fc.oneof(
        own,
        fc.constantFrom("'1970-01-01 12:00:00'", "DATE '1970-01-01'", "TIMESTAMP '1970-01-01 00:00:00' + INTERVAL 1 DAY"),
      );
    default:
      return own;
  }
}

// Texts twice as often: their bounds may be cut.
const leafOf: fc.Arbitrary<string> = fc.constantFrom(...columns, 's' as const).chain((name) => {
  const value = literalFor(name);
  const negation = fc.constantFrom('', 'NOT ');
  const patterns = fc.constantFrom('a%', 'ab%', '%b', 'a\\\\%%', '\u{1f600}%', '');
  return fc.oneof(
    fc.tuple(fc.constantFrom('=', '<>', '<', '<=', '>', '>=', '<=>'), value).map(([operator, literal]) => `${name} ${operator} ${literal}`),
    fc.tuple(fc.constantFrom('=', '<', '>='), value).map(([operator, literal]) => `${literal} ${operator} ${name}`),
    fc.tuple(negation, fc.array(value, { minLength: 1, maxLength: 3 })).map(([not, list]) => `${name} ${not}IN (${list.join(', ')})`),
    fc.tuple(negation, value, value).map(([not, low, high]) => `${name} ${not}BETWEEN ${low} AND ${high}`),
    negation.map((not) => `${name} IS ${not}NULL`),
    fc.tuple(negation, patterns).map(([not, pattern]) => `s ${not}LIKE '${pattern}'`),
    fc.constantFrom('b', 'NOT b', 'b IS TRUE', 'b IS NOT FALSE', "startswith(s, 'a')", 'id = 1 IS NULL'),
  );
});
const conditionOf: fc.Arbitrary<string> = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3 },
    leafOf,
    fc.tuple(tie('node'), fc.constantFrom('AND', 'OR'), tie('node')).map(([left, operator, right]) => `(${left} ${operator} ${right})`),
    tie('node').map((operand) => `NOT (${operand})`),
    fc
      .tuple(tie('node'), fc.constantFrom('IS NULL', 'IS NOT NULL', 'IS NOT TRUE', 'IS FALSE'))
      .map(([operand, is]) => `(${operand}) ${is}`),
  ),
})).node;

function typeOf(name: Name): (typeof schema.fields)[number]['type'] {
  return schema.fields.find((field) => field.name === name)!.type;
}

function orderedOf(literal: Literal): Ordered | undefined {
  switch (literal.type) {
    case 'integer':
    case 'double':
    case 'string':
    case 'boolean':
      return literal.value;
    case 'decimal':
      return literal.unscaled;
    case 'date':
      return BigInt(literal.days);
    case 'timestamp':
      return literal.micros;
    default:
      return undefined;
  }
}

/** As a writer that leaves NaN out of the bounds, and may cut texts after one character, would tell them. */
function factsOf(rows: readonly Row[], cut: boolean): FileFacts {
  const known = new Map<string, ColumnFacts>();
  for (const name of columns) {
    const values = rows.map((row) => orderedOf(row[name]));
    const present = values
      .filter((value) => value !== undefined && !Number.isNaN(value))
      .toSorted((left, right) => compareOrdered(left!, right!));
    const spelled = (value: Ordered | undefined): Ordered | undefined =>
      cut && typeof value === 'string' ? (Array.from(value)[0] ?? '') : value;
    known.set(name, {
      min: spelled(present[0]),
      max: spelled(present.at(-1)),
      nullCount: values.filter((value) => value === undefined).length,
      mayBeTruncated: cut,
    });
  }
  return { rowCount: rows.length, column: (path) => known.get(path.join('.')) };
}
