import type { Expression } from '../expr/expression.ts';
import { Column } from './column.ts';
import { avg, count, max, min, sum } from './functions.ts';
import type { Plan } from './plan/plan.ts';
import { invalidArgument, unsupported } from './session-errors.ts';

interface GroupedDataParts<Frame> {
  readonly groups: readonly Expression[];
  readonly input: Plan;
  readonly frameOf: (plan: Plan) => Frame;
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

  /** @throws AnalysisException `UNSUPPORTED_FEATURE`: always. */
  pivot(column: string): never {
    throw unsupported(`pivot("${column}")`, 'aggregate each value by name: sum(when(col("c").eq("x"), col("v"))).alias("x")');
  }

  #aggregated(aggregates: readonly Expression[]): Frame {
    const { groups, input, frameOf } = this.#parts;
    return frameOf({ kind: 'aggregate', groups, aggregates, input });
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
