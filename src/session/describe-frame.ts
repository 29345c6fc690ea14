import type { StructType } from '../schema/types.ts';
import { type Column, callOf, columnOf } from './column.ts';
import { lit } from './functions.ts';
import type { Plan } from './plan/plan.ts';

const statistics: Readonly<Record<string, (column: Column) => Column>> = {
  count: (column) => callOf('count', [column]),
  mean: (column) => callOf('avg', [column.tryCast('double')]),
  stddev: (column) => callOf('stddev', [column.tryCast('double')]),
  min: (column) => callOf('min', [column]),
  max: (column) => callOf('max', [column]),
};

const described: ReadonlySet<string> = new Set(['byte', 'short', 'integer', 'long', 'float', 'double', 'decimal', 'string']);

/** Names of the columns that `describe` is about when it is told none: numbers and texts. */
export function describedColumns(schema: StructType): readonly string[] {
  return schema.fields.filter(({ type }) => described.has(type.kind)).map(({ name }) => name);
}

/** A row for each statistic, named in the column `summary`, its values as text. */
export function describePlan(input: Plan, names: readonly string[]): Plan {
  const parts = Object.entries(statistics).map(([name, make]): Plan => {
    const values = names.map((column) =>
      make(columnOf({ kind: 'column', path: [column] }))
        .cast('string')
        .alias(column),
    );
    const aggregates = [lit(name).alias('summary'), ...values].map(({ expression }) => expression);
    return { kind: 'aggregate', groups: [], aggregates, input };
  });
  return parts.reduce((left, right) => ({ kind: 'set', operation: 'union', left, right }));
}
