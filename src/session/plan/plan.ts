import type { TextPosition } from '../../base/analysis-exception.ts';
import type { ParameterValues } from '../../expr/bind-parameters.ts';
import type { Expression, Literal, SortKey } from '../../expr/expression.ts';
import type { ColumnBatch } from '../../schema/columns.ts';
import type { StructType } from '../../schema/types.ts';
import type { ChangelogRequest, SnapshotPoint } from '../../table/queries.ts';
import type { Relation } from '../../table/relation.ts';
import type { StreamOptions } from '../../table/stream.ts';
import type { OpenTableOptions } from '../../table/table-formats.ts';
import type { RowInput } from '../rows/row.ts';

/** A time: microseconds since the epoch; `text` as the user wrote it, for messages. */
interface TimePoint {
  readonly kind: 'timestamp';
  readonly micros: bigint;
  readonly text: string;
}

/** The snapshot of a table to read. Default: the newest one when the plan is executed. */
export type ReadPoint = Exclude<SnapshotPoint, { readonly kind: 'timestamp' }> | TimePoint;

/** An end of a range of changes. Both ends are included. */
export type ChangePoint = { readonly kind: 'version'; readonly version: number } | TimePoint;

/** The change feed instead of the rows. */
export interface ChangeRange {
  readonly start: ChangePoint;
  readonly end?: ChangePoint | undefined;
  /** A start after the last commit gives no rows instead of an error. */
  readonly outOfRangeAllowed?: boolean | undefined;
}

/** A table by name (`[t]`, `[db, t]`, `[catalog, db, t]`) or by the path of its directory. */
export type TableReference =
  | { readonly kind: 'name'; readonly parts: readonly string[] }
  | { readonly kind: 'path'; readonly format: string; readonly path: string };

/** Rows of a table or a view. */
export interface TableSource {
  readonly reference: TableReference;
  readonly at?: ReadPoint | undefined;
  readonly changes?: ChangeRange | undefined;
  /** Only rows that appends added after this snapshot. */
  readonly appendedAfter?: bigint | undefined;
  /** The changes between snapshots in place of the rows. */
  readonly changelog?: ChangelogRequest | undefined;
  /** How the table's files are found, for tables that were copied. */
  readonly open?: OpenTableOptions | undefined;
}

/** A table as a stream; runs only as the source of a streaming query. */
export interface StreamRead {
  readonly reference: TableReference;
  readonly options: StreamOptions;
}

/** Files that are no table, read by the engine. */
export interface FileSource {
  readonly format: 'parquet' | 'csv' | 'json';
  readonly paths: readonly string[];
  /** By canonical option name, as the user gave them. */
  readonly options: ReadonlyMap<string, string>;
  /** Default: inferred. */
  readonly schema?: StructType | undefined;
}

export type JoinKind = 'inner' | 'left' | 'right' | 'full' | 'semi' | 'anti' | 'cross';

export type SetOperation = 'union' | 'intersect' | 'intersect-all' | 'except' | 'except-all';

/**
 * What a DataFrame computes: plain data, built without looking anything up. Expressions are as the user wrote them; `analyzePlan` binds
 * them.
 */
export type Plan =
  | { readonly kind: 'table'; readonly source: TableSource }
  | { readonly kind: 'rows'; readonly schema: StructType; readonly batches: readonly ColumnBatch[] }
  /** Few rows that are made when they are asked for, such as those of a table's history. */
  | {
      readonly kind: 'made';
      readonly schema: StructType;
      readonly rows: (signal?: AbortSignal) => Promise<readonly RowInput[]>;
    }
  | { readonly kind: 'stream'; readonly stream: StreamRead }
  /** Rows the engine keeps. */
  | { readonly kind: 'kept'; readonly relation: Relation }
  | { readonly kind: 'files'; readonly source: FileSource }
  | {
      readonly kind: 'query';
      readonly text: string;
      readonly parameters?: ParameterValues | undefined;
      /** Temporary views as they were when the text was given, by lower-case name. */
      readonly views: ReadonlyMap<string, Plan>;
      /** Values of the word DEFAULT in an INSERT's rows, by place. */
      readonly defaults?: readonly Expression[] | undefined;
      /** Where the text begins in a longer one that the user gave. */
      readonly at?: TextPosition | undefined;
    }
  /** Marks the columns of a DataFrame, for `df.col(name)`. */
  | { readonly kind: 'frame'; readonly frame: string; readonly input: Plan }
  | { readonly kind: 'alias'; readonly name: string; readonly input: Plan }
  | { readonly kind: 'select'; readonly columns: readonly Expression[]; readonly input: Plan }
  /** Replaces columns of the same name, adds the others at the end. */
  | {
      readonly kind: 'with-columns';
      readonly columns: readonly { readonly name: string; readonly value: Expression }[];
      readonly input: Plan;
    }
  | { readonly kind: 'rename'; readonly names: ReadonlyMap<string, string>; readonly input: Plan }
  | { readonly kind: 'drop'; readonly columns: readonly Expression[]; readonly input: Plan }
  /** Names all columns, in order. */
  | { readonly kind: 'to-names'; readonly names: readonly string[]; readonly input: Plan }
  | { readonly kind: 'filter'; readonly condition: Expression; readonly input: Plan }
  | { readonly kind: 'sort'; readonly keys: readonly SortKey[]; readonly input: Plan }
  | { readonly kind: 'limit'; readonly count: number | undefined; readonly offset: number; readonly input: Plan }
  | { readonly kind: 'sample'; readonly fraction: number; readonly seed: number; readonly input: Plan }
  | {
      readonly kind: 'aggregate';
      readonly groups: readonly Expression[];
      readonly aggregates: readonly Expression[];
      readonly input: Plan;
    }
  | {
      readonly kind: 'join';
      readonly join: JoinKind;
      readonly using?: readonly string[] | undefined;
      readonly condition?: Expression | undefined;
      readonly left: Plan;
      readonly right: Plan;
    }
  /** By place. */
  | { readonly kind: 'set'; readonly operation: SetOperation; readonly left: Plan; readonly right: Plan }
  | { readonly kind: 'union-by-name'; readonly missingAllowed: boolean; readonly left: Plan; readonly right: Plan }
  /** `columns`: rows that agree on them count as equal; default all. */
  | { readonly kind: 'distinct'; readonly columns?: readonly string[] | undefined; readonly input: Plan }
  | {
      readonly kind: 'fill';
      readonly values: readonly { readonly column?: string | undefined; readonly value: Literal }[];
      readonly columns?: readonly string[] | undefined;
      readonly input: Plan;
    }
  /** Drops rows with null or NaN in any (or all) of the columns; `threshold`: unless at least that many have a value. */
  | {
      readonly kind: 'drop-nulls';
      readonly how: 'any' | 'all';
      readonly threshold?: number | undefined;
      readonly columns?: readonly string[] | undefined;
      readonly input: Plan;
    };
