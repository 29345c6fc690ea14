import { present } from '../../base/assert.ts';
import type { Expression } from '../../expr/expression.ts';
import { expressionType } from '../../expr/expression-type.ts';
import type { CallExpression } from '../../expr/function-spec.ts';

/** An aggregate over the rows of one batch that is kept between batches. */
interface KeptPart {
  /** Over the rows of a batch. */
  readonly partial: CallExpression;
  /** Several kept values as one, of the part's type once it is cast to it; `parts`: the columns of all parts of the aggregate. */
  readonly merge: (own: Expression, parts: readonly Expression[]) => Expression;
}

/** How an aggregate over a whole stream is had from those over its batches. */
export interface SplitAggregate {
  readonly parts: readonly KeptPart[];
  /** The aggregate's value, of its merged parts. */
  readonly finish: (parts: readonly Expression[]) => Expression;
}

type Split = (call: CallExpression) => SplitAggregate;

const callOf = (name: string, ...operands: readonly Expression[]): CallExpression => ({ kind: 'call', name, arguments: operands });
const at = (parts: readonly Expression[], index: number): Expression =>
  present(parts[index], 'an aggregate has a column for each of its parts');
const only = (parts: readonly Expression[]): Expression => at(parts, 0);

/** Of the same kind over batches and over what was kept of them. */
const again: Split = (call) => ({ parts: [{ partial: call, merge: (own) => callOf(call.name, own) }], finish: only });

const counted: Split = (call) => ({
  parts: [{ partial: call, merge: (own) => callOf('sum', own) }],
  finish: only,
});

const averaged: Split = (call) => {
  const operand = at(call.arguments, 0);
  const type = expressionType(call);
  const summed: Expression = type?.kind === 'decimal' ? operand : { kind: 'cast', operand, type: { kind: 'double' }, safe: false };
  const sum = again({ ...call, name: 'sum', arguments: [summed] });
  const count = counted({ ...call, name: 'count' });
  return {
    parts: [...sum.parts, ...count.parts],
    finish: (kept) => {
      const zero: Expression = { kind: 'literal', literal: { type: 'integer', value: 0n, width: 'integer' } };
      const value: Expression = { kind: 'binary', operator: '/', left: at(kept, 0), right: callOf('nullif', at(kept, 1), zero) };
      return type === undefined ? value : { kind: 'cast', operand: value, type, safe: false };
    },
  };
};

/** The value where another is at its end, and that end. */
const atEnd =
  (end: 'max' | 'min'): Split =>
  (call) => ({
    parts: [
      { partial: call, merge: (own, parts) => callOf(call.name, own, at(parts, 1)) },
      { partial: { ...call, name: end, arguments: call.arguments.slice(1) }, merge: (own) => callOf(end, own) },
    ],
    finish: only,
  });

const splits: Readonly<Record<string, Split>> = {
  count: counted,
  count_if: counted,
  sum: again,
  avg: averaged,
  mean: averaged,
  min: again,
  max: again,
  min_by: atEnd('min'),
  max_by: atEnd('max'),
  bool_and: again,
  every: again,
  bool_or: again,
  any: again,
  some: again,
  bit_and: again,
  bit_or: again,
  bit_xor: again,
};

/** Aggregates that a stream can have. */
export const streamedAggregates: readonly string[] = Object.keys(splits).toSorted();

/** How an aggregate is kept in a few values for each group; `undefined` for one that needs all rows. */
export function splitAggregate(call: CallExpression): SplitAggregate | undefined {
  return call.distinct === true ? undefined : splits[call.name.toLowerCase()]?.(call);
}
