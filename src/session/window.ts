import type { Expression, SortKey } from '../expr/expression.ts';
import { Column, type ColumnOrName, namedColumn, type WindowKeys } from './column.ts';

/** The rows a window function looks at: those of the same partition, in an order. Immutable. */
export class WindowSpec implements WindowKeys {
  readonly partitionKeys: readonly Expression[];
  readonly sortKeys: readonly SortKey[];

  constructor(parts: { readonly partitionKeys: readonly Expression[]; readonly sortKeys: readonly SortKey[] }) {
    this.partitionKeys = parts.partitionKeys;
    this.sortKeys = parts.sortKeys;
  }

  partitionBy(...columns: readonly ColumnOrName[]): WindowSpec {
    return new WindowSpec({ partitionKeys: columns.map((column) => sortKeyOf(column).expression), sortKeys: this.sortKeys });
  }

  orderBy(...columns: readonly ColumnOrName[]): WindowSpec {
    return new WindowSpec({ partitionKeys: this.partitionKeys, sortKeys: columns.map(sortKeyOf) });
  }
}

const everything = new WindowSpec({ partitionKeys: [], sortKeys: [] });

/** Where windows begin: `Window.partitionBy('k').orderBy(col('t').desc())`. */
export const Window: Pick<WindowSpec, 'partitionBy' | 'orderBy'> = {
  partitionBy: (...columns) => everything.partitionBy(...columns),
  orderBy: (...columns) => everything.orderBy(...columns),
};

/** A sort key from a column (with its order) or a name (ascending). */
export function sortKeyOf(column: ColumnOrName): SortKey {
  return column instanceof Column ? column.sortKey : { expression: namedColumn(column), descending: false };
}
