import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Expression, Literal } from '../../../src/expr/expression.ts';
import { mapExpression } from '../../../src/expr/expression-tree.ts';
import { parseExpression } from '../../../src/expr/parse/parse-expression.ts';
import { printExpression } from '../../../src/expr/print-expression.ts';

describe('precedence and spelling, as printed', () => {
  it.each([
    ['id = 1', '(id = 1)'],
    ['a > 1 and b is null', '((a > 1) AND (b IS NULL))'],
    ['a or b and not c = d', '(a OR (b AND (NOT (c = d))))'],
    ['a and b and c', '((a AND b) AND c)'],
    ['a or b or c or d', '((a OR b) OR (c OR d))'],
    ['1 + 2 * 3 - 4 || x', '(((1 + (2 * 3)) - 4) || x)'],
    ['a | b ^ c & d + 1 = e', '((a | (b ^ (c & (d + 1)))) = e)'],
    ['a == b', '(a = b)'],
    ['a != b', '(a <> b)'],
    ['- a.b', '(- a.b)'],
    ['-1', '-1'],
    ['- 9223372036854775808', '-9223372036854775808L'],
    ['9223372036854775808', '9223372036854775808BD'],
    ['a between 1 and 2 or b', '(((a >= 1) AND (a <= 2)) OR b)'],
    ["x not in (1, 'a')", "(NOT (x IN (1, 'a')))"],
    ["x not like 'a%' escape '!'", "(NOT (x LIKE 'a%' ESCAPE '!'))"],
    ["x like any ('a', 'b')", "((x LIKE 'a') OR (x LIKE 'b'))"],
    ['x regexp y', '(x RLIKE y)'],
    ['a is not distinct from b', '(a <=> b)'],
    ['a is distinct from b', '(NOT (a <=> b))'],
    ['a is unknown', '(a IS NULL)'],
    ['a is not true', '(a IS NOT TRUE)'],
    ['! a', '(NOT a)'],
    ['cast(a as decimal(10, 2))', 'CAST(a AS DECIMAL(10,2))'],
    ['try_cast(a as array<string>)', 'TRY_CAST(a AS ARRAY<STRING>)'],
    ['a::int::string', 'CAST(CAST(a AS INT) AS STRING)'],
    ['-a::int', '(- CAST(a AS INT))'],
    ['`a b`.`c``d`', '`a b`.`c``d`'],
    ["m['k'][0].x", "m['k'][0].x"],
    ['f(x).y', 'f(x).y'],
    ['x -> x + 1', '(x) -> (x + 1)'],
    ["date '2024-02-29'", "DATE '2024-02-29'"],
    ["timestamp '2024-02-29T10:00:00+02:00'", "TIMESTAMP '2024-02-29 08:00:00Z'"],
    ["timestamp_ntz'2024-02-29 10:00:00.1'", "TIMESTAMP_NTZ '2024-02-29 10:00:00.1'"],
    ["interval '1-2' year to month", "INTERVAL '14 months 0 days 0.000000 seconds'"],
    ['interval -1.5 seconds 2 days', "INTERVAL '0 months 2 days -1.500000 seconds'"],
    ["interval '1 day 2 hours'", "INTERVAL '0 months 1 days 7200.000000 seconds'"],
    ["X'1F'", "X'1F'"],
    ['true and null', '(true AND NULL)'],
    ['case when a then 1 else 2 end', 'CASE WHEN a THEN 1 ELSE 2 END'],
    ['case a when 1 then 2 end', 'CASE a WHEN 1 THEN 2 END'],
    ['count(*)', 'count(*)'],
    ['count(distinct a, b)', 'count(DISTINCT a, b)'],
    ['sum(a) filter (where b) over (partition by c order by d desc)', 'sum(a) FILTER (WHERE b) OVER (PARTITION BY c ORDER BY d DESC)'],
    ['extract(year from d)', 'extract(year FROM d)'],
    ['(a, b)', 'struct(a, b)'],
    ['x = :p', '(x = :p)'],
    ['current_date', 'current_date()'],
    ['date', 'date'],
    ['date(x)', 'date(x)'],
    ['timestamp > 1', '(timestamp > 1)'],
    ['end > 1', '(end > 1)'],
    ['a div 2', '(a div 2)'],
  ])('%s', (text, expected) => {
    expect(printExpression(parseExpression(text))).toBe(expected);
  });
});

describe('refusals name place and cure', () => {
  it.each([
    ['', 'PARSE_SYNTAX_ERROR', 'end of input'],
    ['a =', 'PARSE_SYNTAX_ERROR', 'column 4'],
    ['a = = b', 'PARSE_SYNTAX_ERROR', "near '='"],
    ['a b', 'PARSE_SYNTAX_ERROR', "near 'b' (line 1, column 3)"],
    ['(a', 'PARSE_SYNTAX_ERROR', "expected ')'"],
    ['a BETWEEN 1 OR 2', 'PARSE_SYNTAX_ERROR', 'expected AND'],
    ['a NOT 1', 'PARSE_SYNTAX_ERROR', 'expected BETWEEN, IN, LIKE'],
    ['CASE WHEN a THEN 1', 'PARSE_SYNTAX_ERROR', 'expected END'],
    ['a = 1 AND\n  OR', 'PARSE_SYNTAX_ERROR', 'line 2, column 3'],
    ['id IN (SELECT 1)', 'UNSUPPORTED_SUBQUERY', 'Subqueries'],
    ['EXISTS (SELECT 1)', 'UNSUPPORTED_SUBQUERY', 'Subqueries'],
    ['id = (WITH x AS (SELECT 1) SELECT * FROM x)', 'UNSUPPORTED_SUBQUERY', 'Subqueries'],
    ["date '2023-02-29'", 'PARSE_SYNTAX_ERROR', 'a DATE such as'],
    ['1000Y', 'INVALID_NUMERIC_LITERAL_RANGE', '1000Y'],
    ['1'.repeat(39), 'INVALID_NUMERIC_LITERAL_RANGE', 'outside the valid range'],
    ['CAST(a AS TIMESTMP)', 'UNSUPPORTED_DATATYPE', 'TIMESTMP'],
    ["a LIKE 'b' ESCAPE 'xy'", 'PARSE_SYNTAX_ERROR', 'one character'],
  ])('%s', (text, errorClass, message) => {
    expect(() => parseExpression(text)).toThrow(
      expect.objectContaining({ errorClass, message: expect.stringContaining(message) as unknown }),
    );
  });

  it.each(['((((', '- - - ', 'NOT ', 'f(', 'CASE WHEN ', 'a[', 'x -> '])('nesting of %j without end is refused, not a crash', (part) => {
    expect(() => parseExpression(part.repeat(5000))).toThrow(expect.objectContaining({ errorClass: 'EXPRESSION_TOO_DEEP' }));
  });

  it('chains of operators and members are limited too', () => {
    expect(() => parseExpression(`a${' + a'.repeat(5000)}`)).toThrow(expect.objectContaining({ errorClass: 'EXPRESSION_TOO_DEEP' }));
    expect(() => parseExpression(`a${'::int'.repeat(5000)}`)).toThrow(expect.objectContaining({ errorClass: 'EXPRESSION_TOO_DEEP' }));
  });

  it('thousands of alternatives make a shallow tree', () => {
    const text = Array.from({ length: 20_000 }, (_, index) => `id = ${index}`).join(' OR ');
    expect(printExpression(parseExpression(text))).toContain('(id = 19999)');
  });

  it('deeply nested calls that look like other forms are read in linear time', () => {
    const depth = 60;
    const text = `${'substring(trim('.repeat(depth)}a${'), 1)'.repeat(depth)}`;
    expect(() => parseExpression(text)).not.toThrow();
  });
});

it('printed expressions parse to themselves', () => {
  fc.assert(
    fc.property(expressions, (expression) => {
      expect(bare(parseExpression(printExpression(expression)))).toEqual(expression);
    }),
    { numRuns: 1000 },
  );
});

/** Without places in the text. */
function bare(expression: Expression): Expression {
  return mapExpression(expression, (node) => {
    if (node.kind !== 'column' && node.kind !== 'call') return node;
    const { at, ...rest } = node;
    return at === undefined ? node : rest;
  });
}

const names = fc.oneof(
  fc.constantFrom('a', 'B1', 'select', 'a b', 'x`y', "q'", '1x', 'date', 'CASE'),
  fc.string({ minLength: 1, maxLength: 4, unit: 'grapheme' }),
);
const literals: fc.Arbitrary<Literal> = fc.oneof(
  fc.constant<Literal>({ type: 'null' }),
  fc.boolean().map((value): Literal => ({ type: 'boolean', value })),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value): Literal => ({ type: 'integer', value, width: 'long' })),
  fc.integer().map((value): Literal => ({ type: 'integer', value: BigInt(value), width: 'integer' })),
  fc.string({ unit: 'grapheme' }).map((value): Literal => ({ type: 'string', value })),
  fc.string().map((value): Literal => ({ type: 'string', value })),
  fc.uint8Array({ maxLength: 5 }).map((value): Literal => ({ type: 'binary', value })),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value): Literal => ({ type: 'double', value })),
  fc
    .integer({ min: 0, max: 99_999 })
    .map(
      (unscaled): Literal => ({ type: 'decimal', unscaled: BigInt(unscaled), precision: Math.max(3, String(unscaled).length), scale: 3 }),
    ),
  fc.integer({ min: -700_000, max: 2_900_000 }).map((days): Literal => ({ type: 'date', days })),
  fc.bigInt({ min: -62_000_000_000_000_000n, max: 250_000_000_000_000_000n }).map((micros): Literal => ({ type: 'timestamp', micros })),
  fc
    .tuple(fc.integer({ min: -99, max: 99 }), fc.integer({ min: -99, max: 99 }), fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n }))
    .map(([months, days, micros]): Literal => ({ type: 'interval', months, days, micros })),
);

const expressions: fc.Arbitrary<Expression> = fc.letrec<{ node: Expression }>((tie) => {
  const node = tie('node');
  return {
    node: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      literals.map((literal): Expression => ({ kind: 'literal', literal })),
      fc.array(names, { minLength: 1, maxLength: 3 }).map((path): Expression => ({ kind: 'column', path })),
      fc
        .tuple(fc.constantFrom('and', 'or', '=', '<>', '<', '>=', '<=>', '+', '-', '*', '/', '%', 'div', '&', '|', '^', '||'), node, node)
        .map(([operator, left, right]): Expression => ({ kind: 'binary', operator: operator as '+', left, right })),
      node.map((operand): Expression => ({ kind: 'unary', operator: 'not', operand })),
      fc
        .tuple(node, fc.constantFrom('null', 'true', 'false'), fc.boolean())
        .map(([operand, test, negated]): Expression => ({ kind: 'is', operand, test: test as 'null', negated })),
      fc
        .tuple(node, fc.array(node, { minLength: 1, maxLength: 3 }))
        .map(([operand, options]): Expression => ({ kind: 'in', operand, options, negated: false })),
      fc
        .tuple(node, node)
        .map(([operand, pattern]): Expression => ({ kind: 'like', form: 'like', operand, pattern, escape: '!', negated: false })),
      fc.tuple(node, node, node).map(([when, then, otherwise]): Expression => ({ kind: 'case', branches: [{ when, then }], otherwise })),
      node.map(
        (operand): Expression => ({
          kind: 'cast',
          operand,
          type: { kind: 'list', element: { kind: 'decimal', precision: 10, scale: 2 }, elementNullable: true },
          safe: true,
        }),
      ),
      fc
        .tuple(fc.constantFrom('coalesce', 'my fn'), fc.array(node, { maxLength: 3 }))
        .map(([name, given]): Expression => ({ kind: 'call', name, arguments: given })),
      fc.tuple(names, node).map(
        ([name, body]): Expression => ({
          kind: 'call',
          name: 'transform',
          arguments: [
            { kind: 'column', path: ['l'] },
            { kind: 'lambda', parameters: [name], body },
          ],
        }),
      ),
    ),
  };
}).node;
