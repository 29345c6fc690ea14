import { describe, expect, it } from 'vitest';
import { bindExpression, type Scope } from '../../../src/expr/bind-expression.ts';
import { bindNow, bindParameters } from '../../../src/expr/bind-parameters.ts';
import { columnsOf, hasAggregate, isDeterministic, mapExpression } from '../../../src/expr/expression-tree.ts';
import { expressionType } from '../../../src/expr/expression-type.ts';
import { parseExpression } from '../../../src/expr/parse/parse-expression.ts';
import { parseSchema } from '../../../src/expr/parse/parse-type.ts';
import { printExpression } from '../../../src/expr/print-expression.ts';

const one: Scope = [{ schema: parseSchema('id BIGINT, v STRING, s STRUCT<A: INT, b: ARRAY<STRUCT<x: INT>>, m: MAP<STRING, DOUBLE>>') }];
const two: Scope = [
  { alias: 't', schema: parseSchema('id BIGINT, v STRING, t STRUCT<id: INT>') },
  { alias: 's', schema: parseSchema('id BIGINT, w STRING') },
];

function bound(text: string, scope: Scope = one): string {
  return printExpression(bindExpression(parseExpression(text), scope));
}

describe('names', () => {
  it.each([
    ['ID + S.a', '(id + s.A)'],
    ['s.B.x', 'transform(s.b, (item) -> item.x)'],
    ['s.m.key', "s.m['key']"],
    ['transform(s.b, Id -> Id.x + ID)', 'transform(s.b, (Id) -> (Id.x + Id))'],
  ])('%s', (text, expected) => {
    expect(bound(text)).toBe(expected);
  });

  it.each([
    ['T.ID = S.id', '(t.id = s.id)'],
    ['v = W', '(t.v = s.w)'],
    ['db.t.id = 1', '(t.id = 1)'],
    ['t.t.id = 1', '(t.t.id = 1)'],
  ])('%s with two relations', (text, expected) => {
    expect(bound(text, two)).toBe(expected);
  });

  it('hidden columns are found where no other is, and proposed by no error', () => {
    const scope: Scope = [
      { alias: 't', schema: parseSchema('id BIGINT') },
      { alias: 't', schema: parseSchema('_pos BIGINT, v STRING'), hidden: true },
      { alias: 's', schema: parseSchema('v STRING') },
    ];
    expect(bound('_POS + t.id', scope)).toBe('(t._pos + t.id)');
    expect(bound('v = t.v', scope)).toBe('(s.v = t.v)');
    expect(() => bound('_po', scope)).toThrow('[`s`.`v`, `t`.`id`]');
  });

  it('binding twice changes nothing', () => {
    const first = bindExpression(parseExpression('t.id = s.id and v > upper(w)'), two);
    expect(bindExpression(first, two)).toEqual(first);
  });

  it('of several that differ by case the exact one is meant', () => {
    const scope: Scope = [{ schema: parseSchema('a INT, A INT') }];
    expect(bound('A', scope)).toBe('A');
    expect(() => bound('s.x', [{ schema: parseSchema('S INT, S2 INT') }])).toThrow(
      expect.objectContaining({ errorClass: 'INVALID_EXTRACT_BASE_FIELD_TYPE' }),
    );
  });

  it('an unknown column is refused in the words of the reference, nearest names first', () => {
    const scope: Scope = [{ schema: parseSchema('id BIGINT, ts TIMESTAMP, day DATE, amount DOUBLE, status STRING') }];
    expect(() => bound('nope > 0', scope)).toThrow(
      expect.objectContaining({
        errorClass: 'UNRESOLVED_COLUMN.WITH_SUGGESTION',
        sqlState: '42703',
        message:
          'A column, variable, or function parameter with name `nope` cannot be resolved. Did you mean one of the following? [`id`, `ts`, `day`, `amount`, `status`].',
      }),
    );
    expect(() => bound('stats.x = 1', scope)).toThrow(/\[`status`/);
    expect(() => bound('x', [{ schema: parseSchema('') }])).toThrow(
      expect.objectContaining({ errorClass: 'UNRESOLVED_COLUMN.WITHOUT_SUGGESTION' }),
    );
  });

  it.each([
    ['id = 1', two, 'AMBIGUOUS_REFERENCE', '42704'],
    ['s.nope', one, 'FIELD_NOT_FOUND', '42704'],
    ['id.x', one, 'INVALID_EXTRACT_BASE_FIELD_TYPE', '42000'],
    ['nope(id)', one, 'UNRESOLVED_ROUTINE', '42883'],
  ])('%s is refused', (text, scope, errorClass, sqlState) => {
    expect(() => bound(text, scope)).toThrow(expect.objectContaining({ errorClass, sqlState }));
  });
});

describe('trees', () => {
  it('columns of an expression, each once and without lambda parameters', () => {
    const expression = bindExpression(parseExpression('t.id = s.id AND exists(array(v), x -> x = v AND x = w) AND t.id > 1'), two);
    expect(columnsOf(expression)).toEqual([
      { path: ['id'], qualifier: 't' },
      { path: ['id'], qualifier: 's' },
      { path: ['v'], qualifier: 't' },
      { path: ['w'], qualifier: 's' },
    ]);
  });

  it('a mapping that changes nothing gives the same object', () => {
    const expression = parseExpression('case when a in (1, b) then sum(c) over (partition by d order by e) else f[g] end');
    expect(mapExpression(expression, (node) => node)).toBe(expression);
  });

  it('a mapping reaches every part', () => {
    const expression = parseExpression(
      'case x when a in (1, b) then sum(c) filter (where h) over (partition by d order by e) else f[g] end',
    );
    const renamed = mapExpression(expression, (node) =>
      node.kind === 'column' ? { kind: 'column', path: [`${node.path.join('.')}2`] } : node,
    );
    expect(columnsOf(renamed).map(({ path }) => path[0])).toEqual(['x2', 'a2', 'b2', 'c2', 'h2', 'd2', 'e2', 'f2', 'g2']);
  });

  it('randomness and aggregates are seen', () => {
    expect(isDeterministic(parseExpression('a + rand()'))).toBe(false);
    expect(isDeterministic(parseExpression('a + current_date()'))).toBe(true);
    expect(hasAggregate(parseExpression('1 + MAX(a)'))).toBe(true);
    expect(hasAggregate(parseExpression('sum(a) over ()'))).toBe(false);
  });

  it.each([
    ['id + 1', 'long'],
    ['id / 2', 'double'],
    ['s.A * 1.5', 'decimal'],
    ['upper(v)', 'string'],
    ['size(s.b)', 'integer'],
    ['s.b[0].x', 'integer'],
    ['CASE WHEN true THEN v END', 'string'],
    ['id > 1', 'boolean'],
  ])('%s is of type %s', (text, kind) => {
    expect(expressionType(bindExpression(parseExpression(text), one))?.kind).toBe(kind);
  });
});

describe('values', () => {
  it('take the place of parameters by name and by order', () => {
    expect(printExpression(bindParameters(parseExpression('a = :x AND b = :y'), { x: 1, y: "it's" }))).toBe("((a = 1) AND (b = 'it\\'s'))");
    const values = [1n, 2.5, null, true, new Uint8Array([255]), new Date(0), 3e10];
    expect(printExpression(bindParameters(parseExpression('f(?, ?, ?, ?, ?, ?, ?)'), values))).toBe(
      "f(1L, 2.5D, NULL, true, X'FF', TIMESTAMP '1970-01-01 00:00:00Z', 30000000000L)",
    );
  });

  it.each([
    ['a = :x', {}],
    ['a = ? AND b = ?', [1]],
    ['a = :toString', {}],
  ])('%s without a value is refused', (text, values) => {
    expect(() => bindParameters(parseExpression(text), values)).toThrow(
      expect.objectContaining({ errorClass: 'UNBOUND_SQL_PARAMETER', sqlState: '42P02' }),
    );
  });

  it('the present is one instant for a whole expression', () => {
    expect(printExpression(bindNow(parseExpression('now() = current_timestamp AND current_date() = d'), { micros: -1n }))).toBe(
      "((TIMESTAMP '1969-12-31 23:59:59.999999Z' = TIMESTAMP '1969-12-31 23:59:59.999999Z') AND (DATE '1969-12-31' = d))",
    );
  });
});
