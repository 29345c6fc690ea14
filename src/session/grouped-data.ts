import { unsupported } from '../base/unsupported-feature.ts';
import { literalOf } from '../expr/bind-parameters.ts';
import type { Expression } from '../expr/expression.ts';
import { Column, type ColumnOrName } from './column.ts';
import { expressionOfColumn, type PlainValue } from './data-frame-arguments.ts';
import { avg, count, max, min, sum } from './functions.ts';
import type { Plan, Subtotals } from './plan/plan.ts';
import { invalidArgument } from './session-errors.ts';

interface GroupedDataParts<Frame> {
  readonly groups: readonly Expression[];
  readonly subtotals?: Subtotals | undefined;
  readonly input: Plan;
  readonly frameOf: (plan: Plan) => Frame;
  readonly pivot?: { readonly on: Expression; readonly values: readonly Expression[] | undefined } | undefined;
}

const byName: ReadonlyMap<string, (name: string) => Column> = new Map([
  ['sum', sum],
  ['avg', avg],
  ['mean', avg],
  ['min', min],
  ['max', max],
  ['count', count],
]);

/** Rows in groups, to be aggregated. Each method gives a DataFrame of the group columns and the aggregates. */
export class GroupedData<Frame> {
  readonly #parts: GroupedDataParts<Frame>;

  constructor(parts: GroupedDataParts<Frame>) {
    this.#parts = parts;
  }

  /**
   * Aggregates given as columns, or as one object from column name to the name of the function: `{ amount: 'sum', '*': 'count' }`.
   *
   * @throws AnalysisException `INVALID_ARGUMENT` without aggregates, `UNSUPPORTED_FEATURE` for a function that is not of these by name.
   */
  agg(...aggregates: readonly [Readonly<Record<string, string>>] | readonly Column[]): Frame {
    const columns = aggregates.flatMap((each) => (each instanceof Column ? [each] : namedAggregates(each)));
    if (columns.length === 0) throw invalidArgument('agg() needs at least one aggregate', "such as agg(sum('amount'))");
    return this.#aggregated(columns.map((each) => each.expression));
  }

  count(): Frame {
    return this.#aggregated([count('*').alias('count').expression]);
  }

  sum(...names: readonly string[]): Frame {
    return this.#aggregated(names.map((name) => sum(name).expression));
  }

  avg(...names: readonly string[]): Frame {
    return this.#aggregated(names.map((name) => avg(name).expression));
  }

  mean(...names: readonly string[]): Frame {
    return this.avg(...names);
  }

  min(...names: readonly string[]): Frame {
    return this.#aggregated(names.map((name) => min(name).expression));
  }

  max(...names: readonly string[]): Frame {
    return this.#aggregated(names.map((name) => max(name).expression));
  }

  /**
   * A column for each of the values of a column, and for each aggregate that follows: `groupBy('year').pivot('quarter', [1, 2]).sum('amount')`.
   *
   * @param values default: those that the column has, in order, at most `spark.sql.pivotMaxValues` (10,000). They are looked up in the rows
   * each time the DataFrame is used, its columns included.
   * @throws AnalysisException `UNSUPPORTED_FEATURE` beside subtotals, `INVALID_ARGUMENT` for an empty list.
   */
  pivot(column: ColumnOrName, values?: readonly (PlainValue | null)[]): GroupedData<Frame> {
    if (this.#parts.subtotals !== undefined) throw unsupported('pivot() of rollup(), cube() and groupingSets()', 'use groupBy()');
    if (values?.length === 0)
      throw invalidArgument('pivot() has an empty list of values', "give some, such as pivot('quarter', [1, 2]), or no list");
    return new GroupedData({ ...this.#parts, pivot: { on: expressionOfColumn(column), values: values?.map((value) => literalOf(value)) } });
  }

  #aggregated(aggregates: readonly Expression[]): Frame {
    const { groups, subtotals, input, frameOf, pivot } = this.#parts;
    if (pivot === undefined) return frameOf({ kind: 'aggregate', groups, subtotals, aggregates, input });
    const values = pivot.values?.map((value) => ({ values: [value] }));
    return frameOf({ kind: 'pivot', groups, aggregates, on: [pivot.on], values, input });
  }
}

function namedAggregates(names: Readonly<Record<string, string>>): Column[] {
  return Object.entries(names).map(([name, aggregate]) => {
    const make = byName.get(aggregate.toLowerCase());
    if (make === undefined)
      throw unsupported(`aggregate "${aggregate}" by name`, `use one of ${[...byName.keys()].join(', ')}, or a column`);
    return make(name);
  });
}
