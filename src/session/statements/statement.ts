import type { TextPosition } from '../../base/analysis-exception.ts';
import type { Expression, SortKey } from '../../expr/expression.ts';
import type { Field } from '../../schema/types.ts';
import type { DefinitionChange, PartitioningChange, RefChange } from '../../table/definition-changes.ts';
import type { Assignment, MergeClause } from '../../table/row-operations.ts';

/** A table, view or namespace as written, one to many parts; `delta.`/path`` has the parts `delta` and `/path`. */
export interface ObjectName {
  readonly parts: readonly string[];
  readonly at: TextPosition;
}

/** Which version of a table: by number or name of a branch or tag, or the one in force at a time. */
export type TimeTravel =
  | { readonly kind: 'version'; readonly version: bigint | string }
  /** Text, a number of seconds, or an expression of the current time, without columns. */
  | { readonly kind: 'timestamp'; readonly timestamp: Expression };

export interface TableSource extends ObjectName {
  readonly asOf?: TimeTravel | undefined;
}

/** A query as it was written, to be translated as a whole. */
export interface QueryText {
  readonly text: string;
  /** Where it begins in the statement's text. */
  readonly at: TextPosition;
  /** The 0-based number of each of its `?` among those of the statement. */
  readonly parameters: readonly number[];
}

/** What chooses rows in place of a condition where queries are asked, with the new values in the order of the assignments. */
export interface AskedRows {
  readonly condition: QueryText | undefined;
  readonly values: readonly QueryText[];
  /** `WITH …` of the statement: queries that these may name. */
  readonly named?: QueryText | undefined;
}

/** One item of PARTITIONED BY. */
export type PartitionItem =
  | { readonly kind: 'column'; readonly path: readonly string[] }
  /** A column that is declared here and nowhere else. */
  | { readonly kind: 'typed-column'; readonly field: Field }
  /** `bucket(4, id)`, `days(ts)`, `truncate(8, v)`: the name in lower case. */
  | { readonly kind: 'transform'; readonly name: string; readonly parameter?: number | undefined; readonly path: readonly string[] };

export interface CheckConstraint {
  /** Absent: the table makes one up. */
  readonly name?: string | undefined;
  readonly condition: Expression;
  readonly text: string;
}

export interface CreateTableStatement {
  readonly kind: 'create-table';
  readonly mode: 'create' | 'create-if-absent' | 'replace' | 'create-or-replace';
  readonly name: ObjectName;
  /** Undefined: those of the query. */
  readonly columns: readonly Field[] | undefined;
  readonly constraints: readonly CheckConstraint[];
  /** The format after USING, in lower case. */
  readonly provider?: string | undefined;
  readonly partitionedBy: readonly PartitionItem[];
  readonly clusterBy: readonly (readonly string[])[];
  readonly location?: string | undefined;
  readonly comment?: string | undefined;
  readonly properties: Readonly<Record<string, string>>;
  readonly options: Readonly<Record<string, string>>;
  readonly query?: QueryText | undefined;
}

export interface CloneTableStatement {
  readonly kind: 'clone-table';
  readonly mode: CreateTableStatement['mode'];
  readonly name: ObjectName;
  readonly source: TableSource;
  readonly shallow: boolean;
  readonly properties: Readonly<Record<string, string>>;
  readonly location?: string | undefined;
}

export type RefKind = 'branch' | 'tag';

/** How long a branch or tag keeps what it refers to; milliseconds. */
export interface RefRetention {
  readonly version?: bigint | undefined;
  readonly retainMs?: bigint | undefined;
  readonly minSnapshotsToKeep?: number | undefined;
  readonly maxSnapshotAgeMs?: bigint | undefined;
}

/** What ALTER TABLE does: changes every format has, and those of Iceberg alone. */
export type AlterAction =
  | Exclude<DefinitionChange, PartitioningChange | RefChange>
  | { readonly kind: 'rename-table'; readonly to: ObjectName }
  | { readonly kind: 'add-partition-field'; readonly item: PartitionItem; readonly name?: string | undefined }
  | { readonly kind: 'drop-partition-field'; readonly item: PartitionItem }
  | {
      readonly kind: 'replace-partition-field';
      readonly item: PartitionItem;
      readonly by: PartitionItem;
      readonly name?: string | undefined;
    }
  /** No keys: unordered. */
  | {
      readonly kind: 'write-order';
      readonly keys: readonly SortKey[];
      readonly distribution: 'none' | 'hash' | 'range' | 'local' | undefined;
    }
  | { readonly kind: 'set-identifier-fields'; readonly paths: readonly (readonly string[])[] }
  | { readonly kind: 'drop-identifier-fields'; readonly paths: readonly (readonly string[])[] }
  | {
      readonly kind: 'create-ref';
      readonly ref: RefKind;
      readonly name: string;
      readonly mode: 'create' | 'create-if-absent' | 'create-or-replace' | 'replace';
      readonly retention: RefRetention;
    }
  | { readonly kind: 'drop-ref'; readonly ref: RefKind; readonly name: string; readonly ifExists: boolean };

export interface InsertStatement {
  readonly kind: 'insert';
  readonly name: ObjectName;
  readonly mode: 'append' | 'overwrite';
  /** Undefined: all columns of the table, in order. */
  readonly columns: readonly string[] | undefined;
  /** PARTITION (p = 'a', q): fixed values by column; `undefined` where the rows decide. */
  readonly partition: readonly { readonly column: string; readonly value: Expression | undefined }[];
  readonly byName: boolean;
  /** INSERT WITH SCHEMA EVOLUTION: columns the table lacks are added to it. */
  readonly schemaEvolution?: boolean | undefined;
  readonly replaceWhere?: Expression | undefined;
  readonly query: QueryText;
}

export interface MergeStatement {
  readonly kind: 'merge';
  readonly target: ObjectName;
  readonly targetAlias: string | undefined;
  readonly source: { readonly kind: 'table'; readonly table: TableSource } | { readonly kind: 'query'; readonly query: QueryText };
  readonly sourceAlias: string | undefined;
  readonly condition: Expression;
  readonly clauses: readonly MergeClause[];
  readonly schemaEvolution: boolean;
  /** The condition that asks a query, such as `search condition`; clauses from it on are not read then. */
  readonly asks?: string | undefined;
}

/** CREATE [OR REPLACE] [GLOBAL] TEMPORARY VIEW. */
export interface CreateViewStatement {
  readonly kind: 'create-view';
  readonly name: ObjectName;
  /** In the namespace `global_temp`. */
  readonly global?: boolean | undefined;
  /** Of the view's columns. Default: those of the query. */
  readonly columns?: readonly string[] | undefined;
  readonly replace: boolean;
  readonly query: QueryText;
}

export interface ViewColumn {
  readonly name: string;
  readonly comment?: string | undefined;
}

/** CREATE [OR REPLACE] VIEW [IF NOT EXISTS]: kept by a catalog. */
export interface CreateCatalogViewStatement {
  readonly kind: 'create-catalog-view';
  readonly name: ObjectName;
  readonly mode: 'create' | 'create-if-absent' | 'create-or-replace';
  /** Of the view. Default: those of the query. */
  readonly columns?: readonly ViewColumn[] | undefined;
  readonly comment?: string | undefined;
  readonly properties: Readonly<Record<string, string>>;
  readonly query: QueryText;
}

export type AlterViewAction =
  | { readonly kind: 'query'; readonly query: QueryText }
  | { readonly kind: 'set-properties'; readonly properties: Readonly<Record<string, string>> }
  | { readonly kind: 'unset-properties'; readonly keys: readonly string[]; readonly ifExists: boolean }
  | { readonly kind: 'rename'; readonly to: ObjectName };

/** A procedure's argument, by name or by place. */
export interface CallArgument {
  readonly name?: string | undefined;
  readonly value: Expression;
}

/** What changes rows, and reads some for it. */
export type RowStatement = Extract<Statement, { readonly kind: 'insert' | 'update' | 'delete' | 'merge' }>;

export interface ExplainStatement {
  readonly kind: 'explain';
  readonly extended: boolean;
  readonly of: { readonly kind: 'query'; readonly query: QueryText } | RowStatement;
}

/** One statement of Spark's dialect, with parameters in place of `:name` and `?` outside of queries. */
export type Statement =
  | { readonly kind: 'query'; readonly query: QueryText }
  | { readonly kind: 'from-inserts'; readonly inserts: readonly InsertStatement[] }
  | ExplainStatement
  | {
      readonly kind: 'create-namespace';
      readonly name: ObjectName;
      readonly ifNotExists: boolean;
      readonly comment?: string | undefined;
      readonly location?: string | undefined;
      readonly properties: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'drop-namespace'; readonly name: ObjectName; readonly ifExists: boolean; readonly cascade: boolean }
  | { readonly kind: 'show-catalogs'; readonly like?: string | undefined }
  | { readonly kind: 'show-namespaces'; readonly in?: ObjectName | undefined; readonly like?: string | undefined }
  | { readonly kind: 'show-tables'; readonly in?: ObjectName | undefined; readonly like?: string | undefined }
  | { readonly kind: 'show-views'; readonly in?: ObjectName | undefined; readonly like?: string | undefined }
  | { readonly kind: 'show-table-properties'; readonly name: ObjectName; readonly key?: string | undefined }
  | { readonly kind: 'show-columns'; readonly name: ObjectName }
  | {
      readonly kind: 'show-partitions';
      readonly name: ObjectName;
      /** Only partitions with these. */
      readonly values?: readonly { readonly column: string; readonly value: Expression }[] | undefined;
    }
  | { readonly kind: 'show-create-table'; readonly name: ObjectName }
  /** `any`: USE names a namespace, or a catalog when it has one part and no namespace is called so. */
  | { readonly kind: 'use'; readonly name: ObjectName; readonly what: 'any' | 'namespace' | 'catalog' }
  | CreateTableStatement
  | CloneTableStatement
  /** CREATE TABLE … LIKE: the columns, partitions and properties of another table, no rows. */
  | {
      readonly kind: 'create-table-like';
      readonly mode: 'create' | 'create-if-absent';
      readonly name: ObjectName;
      readonly source: ObjectName;
      readonly provider?: string | undefined;
      readonly location?: string | undefined;
      readonly properties: Readonly<Record<string, string>>;
    }
  | CreateViewStatement
  | CreateCatalogViewStatement
  | { readonly kind: 'alter-view'; readonly name: ObjectName; readonly action: AlterViewAction }
  | { readonly kind: 'drop-view'; readonly name: ObjectName; readonly ifExists: boolean }
  | { readonly kind: 'drop-table'; readonly name: ObjectName; readonly ifExists: boolean; readonly purge: boolean }
  | { readonly kind: 'truncate-table'; readonly name: ObjectName }
  | { readonly kind: 'refresh-table'; readonly name: ObjectName }
  /** CACHE TABLE, UNCACHE TABLE, CLEAR CACHE (without name). */
  | {
      readonly kind: 'cache';
      readonly name?: ObjectName | undefined;
      readonly optional: boolean;
      readonly view?: CreateViewStatement | undefined;
    }
  | { readonly kind: 'alter-table'; readonly name: ObjectName; readonly actions: readonly AlterAction[] }
  | InsertStatement
  | {
      readonly kind: 'delete';
      readonly name: ObjectName;
      readonly alias: string | undefined;
      readonly condition: Expression | undefined;
      readonly asks?: AskedRows | undefined;
    }
  | {
      readonly kind: 'update';
      readonly name: ObjectName;
      readonly alias: string | undefined;
      /** A value may be the column `DEFAULT`, which stands for the column's default. */
      readonly assignments: readonly Assignment[];
      readonly condition: Expression | undefined;
      readonly asks?: AskedRows | undefined;
    }
  | MergeStatement
  | {
      readonly kind: 'optimize';
      readonly name: ObjectName;
      readonly where?: Expression | undefined;
      readonly zOrderBy: readonly string[];
      readonly full: boolean;
    }
  /** REORG TABLE … APPLY (PURGE). */
  | { readonly kind: 'reorg'; readonly name: ObjectName; readonly where?: Expression | undefined }
  | {
      readonly kind: 'vacuum';
      readonly name: ObjectName;
      readonly mode: 'full' | 'lite' | undefined;
      readonly retainHours?: number | undefined;
      readonly dryRun: boolean;
    }
  | {
      readonly kind: 'describe-table';
      readonly name: ObjectName;
      readonly extended: boolean;
      readonly column?: readonly string[] | undefined;
    }
  | { readonly kind: 'describe-namespace'; readonly name: ObjectName; readonly extended: boolean }
  | { readonly kind: 'describe-query'; readonly query: QueryText }
  | { readonly kind: 'describe-history'; readonly name: ObjectName; readonly limit?: number | undefined }
  | { readonly kind: 'describe-detail'; readonly name: ObjectName }
  | {
      readonly kind: 'convert';
      readonly name: ObjectName;
      readonly partitionedBy: readonly Field[];
      readonly collectStatistics: boolean;
    }
  | { readonly kind: 'restore'; readonly name: ObjectName; readonly to: TimeTravel }
  /** GENERATE symlink_format_manifest FOR TABLE …: the mode in lower case. */
  | { readonly kind: 'generate'; readonly mode: string; readonly name: ObjectName }
  | { readonly kind: 'call'; readonly procedure: ObjectName; readonly arguments: readonly CallArgument[] }
  /** Without key: shows all; without value: shows one. */
  | { readonly kind: 'set'; readonly key?: string | undefined; readonly value?: string | undefined }
  | { readonly kind: 'reset'; readonly key?: string | undefined };
