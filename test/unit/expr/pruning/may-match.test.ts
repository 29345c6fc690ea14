import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BinaryOperator, Expression, Literal } from '../../../../src/expr/expression.ts';
import { type ColumnFacts, type FileFacts, mayMatch } from '../../../../src/expr/pruning/may-match.ts';
import type { BoundValue } from '../../../../src/schema/statistics.ts';
import type { DataType } from '../../../../src/schema/types.ts';

const column = (name: string): Expression => ({ kind: 'column', path: [name] });
const literal = (value: Literal): Expression => ({ kind: 'literal', literal: value });
const long = (value: number | bigint): Expression => literal({ type: 'integer', value: BigInt(value), width: 'long' });
const text = (value: string): Expression => literal({ type: 'string', value });
const compared = (operator: BinaryOperator, left: Expression, right: Expression): Expression => ({ kind: 'binary', operator, left, right });
const facts = (columns: Readonly<Record<string, ColumnFacts>>, rowCount = 10): FileFacts => ({
  rowCount,
  column: (path) => columns[path.join('.')],
});
const ids = facts({ id: { type: { kind: 'long' }, min: 10n, max: 20n, nullCount: 0 } });

describe('mayMatch', () => {
  it('rules out what lies outside the bounds, and nothing on them', () => {
    expect(mayMatch(compared('=', column('id'), long(9)), ids)).toBe(false);
    expect(mayMatch(compared('=', column('id'), long(10)), ids)).toBe(true);
    expect(mayMatch(compared('>', column('id'), long(20)), ids)).toBe(false);
    expect(mayMatch(compared('>=', column('id'), long(20)), ids)).toBe(true);
    expect(mayMatch(compared('<', long(20), column('id')), ids)).toBe(false);
    expect(mayMatch({ kind: 'in', operand: column('id'), options: [long(1), long(30)], negated: false }, ids)).toBe(false);
    expect(mayMatch({ kind: 'between', operand: column('id'), low: long(21), high: long(30), negated: false }, ids)).toBe(false);
  });

  it('keeps what it does not understand', () => {
    expect(mayMatch({ kind: 'call', name: 'abs', arguments: [column('id')] }, ids)).toBe(true);
    expect(mayMatch(compared('=', column('other'), long(1)), ids)).toBe(true);
    expect(mayMatch(compared('=', compared('+', column('id'), long(1)), long(1)), ids)).toBe(true);
  });

  it('reads times and dates from text as the engine does', () => {
    const day = facts({ d: { type: { kind: 'date' }, min: 19_000n, max: 19_001n, nullCount: 0 } });
    expect(mayMatch(compared('=', column('d'), text('2022-01-08')), day)).toBe(true);
    expect(mayMatch(compared('=', column('d'), text('2022-01-10')), day)).toBe(false);
    expect(mayMatch(compared('=', column('d'), text('someday')), day)).toBe(true);
    const time = facts({ t: { type: { kind: 'timestamp' }, min: 0n, max: 1_000_000n, nullCount: 0 } });
    expect(mayMatch(compared('>', column('t'), literal({ type: 'timestamp', micros: 1_000_001n })), time)).toBe(false);
    expect(mayMatch(compared('>', column('t'), text('1970-01-02')), time)).toBe(false);
  });

  it('never rules out a greater-than on floating point, for a NaN may be there', () => {
    const prices = facts({ p: { type: { kind: 'double' }, min: 1, max: 2, nullCount: 0 } });
    expect(mayMatch(compared('>', column('p'), literal({ type: 'double', value: 5 })), prices)).toBe(true);
    expect(mayMatch(compared('<', column('p'), literal({ type: 'double', value: 0.5 })), prices)).toBe(false);
    expect(mayMatch(compared('=', column('p'), literal({ type: 'double', value: 5 })), prices)).toBe(false);
  });

  it('compares text by its bytes and finds prefixes', () => {
    // U+FF5E sorts before U+1F600 by bytes, after it by UTF-16 units.
    const names = facts({ n: { type: { kind: 'string' }, min: '\uff5e', max: '\u{1f600}', nullCount: 0 } });
    expect(mayMatch(compared('=', column('n'), text('\u{1f5ff}')), names)).toBe(true);
    const words = facts({ n: { type: { kind: 'string' }, min: 'apple', max: 'cherry', nullCount: 0 } });
    const like = (pattern: string): Expression => ({
      kind: 'like',
      form: 'like',
      operand: column('n'),
      pattern: text(pattern),
      negated: false,
    });
    expect(mayMatch(like('b%'), words)).toBe(true);
    expect(mayMatch(like('d%'), words)).toBe(false);
    expect(mayMatch(like('cherry pie%'), words)).toBe(false);
    expect(mayMatch(like('che%'), words)).toBe(true);
    expect(mayMatch(like('%d'), words)).toBe(true);
  });

  it('knows files of nulls', () => {
    const nulls = facts({ id: { type: { kind: 'long' }, nullCount: 10 } });
    expect(mayMatch({ kind: 'is', operand: column('id'), test: 'null', negated: true }, nulls)).toBe(false);
    expect(mayMatch({ kind: 'is', operand: column('id'), test: 'null', negated: false }, ids)).toBe(false);
    expect(mayMatch(compared('=', column('id'), long(1)), nulls)).toBe(false);
    const not: Expression = { kind: 'unary', operator: 'not', operand: compared('=', column('id'), long(1)) };
    expect(mayMatch(not, nulls)).toBe(false);
    expect(mayMatch(compared('<=>', column('id'), literal({ type: 'null' })), nulls)).toBe(true);
  });

  it('never loses a row', () => {
    const value = fc.option(fc.integer({ min: -3, max: 3 }), { nil: null });
    const rows = fc.array(fc.record({ a: value, b: value }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(rows, condition(), (data, wanted) => {
        const known = facts({ a: factsOf(data.map(({ a }) => a)), b: factsOf(data.map(({ b }) => b)) }, data.length);
        const matches = data.some((row) => evaluate(wanted, row) === true);
        if (matches) expect(mayMatch(wanted, known)).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });
});

type Row = Readonly<Record<string, number | null>>;

function factsOf(values: readonly (number | null)[]): ColumnFacts {
  const type: DataType = { kind: 'integer' };
  const present = values.filter((each): each is number => each !== null);
  const bound = (pick: (...of: number[]) => number): BoundValue | undefined =>
    present.length === 0 ? undefined : BigInt(pick(...present));
  return { type, min: bound(Math.min), max: bound(Math.max), nullCount: values.length - present.length };
}

function condition(): fc.Arbitrary<Expression> {
  const leaf = fc.constantFrom(column('a'), column('b'));
  const constant = fc
    .option(fc.integer({ min: -4, max: 4 }), { nil: null, freq: 8 })
    .map((each) => (each === null ? literal({ type: 'null' }) : long(each)));
  const operator = fc.constantFrom<BinaryOperator>('=', '<>', '<', '<=', '>', '>=', '<=>');
  const tree = fc.letrec<{ node: Expression }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 3 },
      fc.tuple(operator, leaf, constant).map(([each, left, right]) => compared(each, left, right)),
      fc.tuple(operator, constant, leaf).map(([each, left, right]) => compared(each, left, right)),
      fc.tuple(leaf, fc.boolean()).map(([operand, negated]): Expression => ({ kind: 'is', operand, test: 'null', negated })),
      fc
        .tuple(leaf, fc.array(constant, { minLength: 1, maxLength: 3 }), fc.boolean())
        .map(([operand, options, negated]): Expression => ({ kind: 'in', operand, options, negated })),
      fc
        .tuple(leaf, constant, constant, fc.boolean())
        .map(([operand, low, high, negated]): Expression => ({ kind: 'between', operand, low, high, negated })),
      fc
        .tuple(tie('node'), tie('node'), fc.constantFrom<BinaryOperator>('and', 'or'))
        .map(([left, right, each]) => compared(each, left, right)),
      tie('node').map((operand): Expression => ({ kind: 'unary', operator: 'not', operand })),
    ),
  }));
  return tree.node;
}

/** Three-valued evaluation of one row, written apart from the product. */
function evaluate(node: Expression, row: Row): boolean | null {
  const number = (each: Expression): number | null => {
    if (each.kind === 'column') return row[each.path[0] ?? ''] ?? null;
    return each.kind === 'literal' && each.literal.type === 'integer' ? Number(each.literal.value) : null;
  };
  const not = (value: boolean | null): boolean | null => (value === null ? null : !value);
  const and = (left: boolean | null, right: boolean | null): boolean | null =>
    left === false || right === false ? false : left === null || right === null ? null : true;
  const or = (left: boolean | null, right: boolean | null): boolean | null => not(and(not(left), not(right)));
  if (node.kind === 'unary') return not(evaluate(node.operand, row));
  if (node.kind === 'is') return (number(node.operand) === null) !== node.negated;
  if (node.kind === 'in') {
    const found = node.options.map((each) => evaluate(compared('=', node.operand, each), row)).reduce(or, false);
    return node.negated ? not(found) : found;
  }
  if (node.kind === 'between') {
    const inside = and(evaluate(compared('>=', node.operand, node.low), row), evaluate(compared('<=', node.operand, node.high), row));
    return node.negated ? not(inside) : inside;
  }
  if (node.kind !== 'binary') throw new TypeError(node.kind);
  if (node.operator === 'and') return and(evaluate(node.left, row), evaluate(node.right, row));
  if (node.operator === 'or') return or(evaluate(node.left, row), evaluate(node.right, row));
  const [left, right] = [number(node.left), number(node.right)];
  if (node.operator === '<=>') return left === right;
  if (left === null || right === null) return null;
  const outcomes: Partial<Record<BinaryOperator, boolean>> = {
    '=': left === right,
    '<>': left !== right,
    '<': left < right,
    '<=': left <= right,
    '>': left > right,
    '>=': left >= right,
  };
  return outcomes[node.operator] ?? null;
}
