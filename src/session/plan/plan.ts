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
import type { LiveSource } from './live-table.ts';

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
  /** What the path means where there is a table of that very name, with what looks like a version at its end. */
  readonly whole?: TableReference | undefined;
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

/** `union` keeps what occurs twice, as `UNION ALL` does. */
export type SetOperation = 'union' | 'union-distinct' | 'intersect' | 'intersect-all' | 'except' | 'except-all';

/** When of a table, as a query says it: the expression of a time is evaluated before the query. */
export type TravelClause =
  | { readonly kind: 'version'; readonly value: Expression }
  | { readonly kind: 'timestamp'; readonly value: Expression; readonly text: string };

/** `*`, `t.*`, `* EXCEPT (a)`. */
export interface StarItem {
  readonly kind: 'star-item';
  readonly qualifier?: readonly string[] | undefined;
  readonly except: readonly string[];
  readonly at?: TextPosition | undefined;
}

/** One or several sets of keys; plain keys are a set of their own. */
export interface GroupElement {
  readonly kind: 'key' | 'rollup' | 'cube' | 'grouping-sets';
  readonly sets: readonly (readonly Expression[])[];
}

/**
 * A select list with what may use the names it gives. Without `groups` the rows are one group where something aggregates. Groups of a query in
 * SQL may be places and names of the list.
 */
export interface Select {
  readonly columns: readonly (Expression | StarItem)[];
  readonly groups?: 'all' | readonly GroupElement[] | undefined;
  readonly having?: Expression | undefined;
  readonly qualify?: Expression | undefined;
  readonly distinct?: boolean | undefined;
  readonly orderBy?: readonly SortKey[] | undefined;
}

export type Subtotals =
  | { readonly kind: 'rollup' | 'cube' }
  /** Each: some of the keys, written again. */
  | { readonly kind: 'grouping-sets'; readonly sets: readonly (readonly Expression[])[] };

/** Constants, one for each column that is turned into columns. */
export interface PivotValue {
  readonly values: readonly Expression[];
  readonly name?: string | undefined;
}

/** Columns that become one row. */
export interface UnpivotedColumns {
  readonly columns: readonly Expression[];
  readonly name?: string | undefined;
}

/** A query that a query names: evaluated once for all its mentions. */
export interface NamedPlan {
  readonly name: string;
  readonly columns: readonly string[] | undefined;
  readonly plan: Plan;
}

/**
 * What a DataFrame or a query in SQL computes: plain data, built without looking anything up. Expressions are as the user wrote them, names
 * not found; `analyzePlan` binds them.
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
  | { readonly kind: 'live'; readonly source: LiveSource }
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
  /** A query with the queries it names, and those that stand in its expressions, by their number in the text. */
  | {
      readonly kind: 'with';
      readonly queries: readonly NamedPlan[];
      readonly subqueries: ReadonlyMap<string, Plan>;
      readonly input: Plan;
    }
  /** A query of WITH RECURSIVE: `step` makes more rows of those it made before, beginning with those of `anchor`. */
  | {
      readonly kind: 'recursion';
      readonly name: string;
      readonly columns: readonly string[] | undefined;
      readonly maxLevel: number | undefined;
      /** Equal rows once. */
      readonly distinct: boolean;
      readonly anchor: Plan;
      /** Not there where the query is no union. */
      readonly step: Plan | undefined;
    }
  /** A name in FROM: of a query of WITH, of a view or of a table, as written: `[t]`, `[db, t]`, `[delta, /path]`. */
  | { readonly kind: 'named'; readonly parts: readonly string[]; readonly travel?: TravelClause | undefined }
  | { readonly kind: 'values'; readonly rows: readonly (readonly Expression[])[] }
  /** One row without columns: a SELECT without FROM. */
  | { readonly kind: 'one-row' }
  /** A function in FROM. */
  | { readonly kind: 'function'; readonly name: string; readonly arguments: readonly Expression[]; readonly at: TextPosition }
  /** Each row joined with those that a function makes of it: LATERAL VIEW. */
  | {
      readonly kind: 'generate';
      readonly call: Expression;
      readonly outer: boolean;
      readonly name: string;
      readonly columns: readonly string[];
      readonly input: Plan;
    }
  /** Marks the columns of a DataFrame, for `df.col(name)`. */
  | { readonly kind: 'frame'; readonly frame: string; readonly input: Plan }
  /** `columns`: the only names of the columns from here on. */
  | { readonly kind: 'alias'; readonly name: string; readonly columns?: readonly string[] | undefined; readonly input: Plan }
  | (Select & { readonly kind: 'select'; readonly input: Plan })
  /**
   * Groups with a column for each value and aggregate, over the rows that have the value. `groups`: default the columns that are named nowhere
   * else. `values`: default those that the one column has.
   */
  | {
      readonly kind: 'pivot';
      readonly groups?: readonly Expression[] | undefined;
      readonly aggregates: readonly Expression[];
      readonly on: readonly Expression[];
      readonly values?: readonly PivotValue[] | undefined;
      readonly input: Plan;
    }
  /** A row for each of some columns, with its name and value beside all other columns. */
  | {
      readonly kind: 'unpivot';
      /** Default: all that are not turned. */
      readonly ids?: readonly Expression[] | undefined;
      /** Default: all that are no ids. */
      readonly columns?: readonly UnpivotedColumns[] | undefined;
      readonly nameColumn: string;
      readonly valueColumns: readonly string[];
      readonly keepsNulls: boolean;
      readonly input: Plan;
    }
  /** Replaces columns of the same name, adds the others at the end. */
  | {
      readonly kind: 'with-columns';
      readonly columns: readonly { readonly name: string; readonly value: Expression }[];
      /** Adds none: each name means one column. */
      readonly presentOnly?: boolean | undefined;
      readonly input: Plan;
    }
  | { readonly kind: 'rename'; readonly names: ReadonlyMap<string, string>; readonly input: Plan }
  | { readonly kind: 'drop'; readonly columns: readonly Expression[]; readonly input: Plan }
  /** Names all columns, in order. */
  | { readonly kind: 'to-names'; readonly names: readonly string[]; readonly input: Plan }
  | { readonly kind: 'filter'; readonly condition: Expression; readonly input: Plan }
  | { readonly kind: 'sort'; readonly keys: readonly SortKey[]; readonly input: Plan }
  /** Constants. */
  | { readonly kind: 'limit'; readonly count?: Expression | undefined; readonly offset?: Expression | undefined; readonly input: Plan }
  | { readonly kind: 'sample'; readonly fraction: number; readonly seed: number; readonly input: Plan }
  | {
      readonly kind: 'aggregate';
      readonly groups: readonly Expression[];
      /** A whole number among the keys is the place of a column of the input. */
      readonly byPlace?: boolean | undefined;
      /** Also groups of fewer keys. Default: each row is in one group. */
      readonly subtotals?: Subtotals | undefined;
      readonly aggregates: readonly Expression[];
      readonly input: Plan;
    }
  | {
      readonly kind: 'join';
      readonly join: JoinKind;
      /** By all names that both sides have. */
      readonly natural?: boolean | undefined;
      readonly using?: readonly string[] | undefined;
      readonly condition?: Expression | undefined;
      /** The right side may use the columns of the left one. */
      readonly lateral?: boolean | undefined;
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
