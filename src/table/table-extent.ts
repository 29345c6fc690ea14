import type { ColumnFacts } from '../expr/pruning/file-facts.ts';
import type { Field } from '../schema/types.ts';

/** What is asked of a column; its bounds, or only how many rows have a value. */
export interface ExtentColumn {
  readonly field: Field;
  readonly bounds: boolean;
}

/** What a table's metadata tells exactly of all its rows. */
export interface TableExtent {
  readonly rows: bigint;
  /** Of the columns asked for, by name. */
  readonly columns: ReadonlyMap<string, ColumnExtent>;
}

export interface ColumnExtent {
  readonly nulls: bigint;
  /** Integers, and days since the epoch; `undefined`: not asked for, or no row has a value. */
  readonly bounds: { readonly min: bigint; readonly max: bigint } | undefined;
}

/** What the metadata tells of one file. */
export interface FileExtent {
  /** Rows that count. */
  readonly rows: number | undefined;
  /** Facts may cover rows that do not count. */
  readonly hasDeletes: boolean;
  readonly facts: (field: Field) => ColumnFacts | undefined;
}

/** Types whose bounds are exact wherever there are any: text is cut, and instants are in the logs of Delta. */
export function hasExactBounds({ type }: Field): boolean {
  return type.kind === 'byte' || type.kind === 'short' || type.kind === 'integer' || type.kind === 'long' || type.kind === 'date';
}

/** The files together; `undefined` when one of them does not tell exactly. */
export function extentOf(files: Iterable<FileExtent>, columns: readonly ExtentColumn[]): TableExtent | undefined {
  if (columns.some(({ field, bounds }) => bounds && !hasExactBounds(field))) return undefined;
  let rows = 0n;
  const sums = new Map<string, ColumnExtent>(columns.map(({ field }) => [field.name, { nulls: 0n, bounds: undefined }]));
  for (const file of files) {
    if (file.rows === undefined || (file.hasDeletes && columns.length > 0)) return undefined;
    rows += BigInt(file.rows);
    for (const column of columns) {
      const sum = sums.get(column.field.name);
      const added = sum && withFile(sum, column, file.rows, file.facts(column.field));
      if (added === undefined) return undefined;
      sums.set(column.field.name, added);
    }
  }
  return { rows, columns: sums };
}

function withFile(sum: ColumnExtent, { bounds }: ExtentColumn, rows: number, facts: ColumnFacts | undefined): ColumnExtent | undefined {
  const nullCount = facts?.allNull === true ? rows : facts?.nullCount;
  if (nullCount === undefined || nullCount > rows) return undefined;
  const nulls = sum.nulls + BigInt(nullCount);
  if (!bounds || nullCount === rows) return { ...sum, nulls };
  const { min, max } = facts ?? {};
  if (typeof min !== 'bigint' || typeof max !== 'bigint' || min > max) return undefined;
  const known = sum.bounds ?? { min, max };
  return { nulls, bounds: { min: min < known.min ? min : known.min, max: max > known.max ? max : known.max } };
}
