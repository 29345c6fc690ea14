import type { Expression } from '../expr/expression.ts';
import type { DataType, Field } from '../schema/types.ts';
import type { TableFormat } from './formats.ts';
import type { PartitionFieldDefinition } from './partitioning/transform.ts';
import type { WriteOrderKey } from './partitioning/write-order.ts';
import type { CommitOptions } from './row-operations.ts';
import type { Version } from './version.ts';

/** Where a column goes among its siblings. Default: last. */
export type ColumnPlace = { readonly kind: 'first' } | { readonly kind: 'after'; readonly sibling: string };

/** A change of a table's definition. Column paths have one part for a top-level column; `element`, `key`, `value` enter lists and maps. */
export type DefinitionChange =
  | {
      readonly kind: 'add-columns';
      readonly columns: readonly {
        readonly parent: readonly string[];
        readonly field: Field;
        readonly place?: ColumnPlace | undefined;
      }[];
    }
  | { readonly kind: 'rename-column'; readonly path: readonly string[]; readonly to: string }
  | { readonly kind: 'drop-columns'; readonly paths: readonly (readonly string[])[]; readonly ifExists?: boolean | undefined }
  | { readonly kind: 'change-type'; readonly path: readonly string[]; readonly type: DataType }
  | { readonly kind: 'change-nullability'; readonly path: readonly string[]; readonly nullable: boolean }
  | { readonly kind: 'change-comment'; readonly path: readonly string[]; readonly comment: string | undefined }
  | { readonly kind: 'move-column'; readonly path: readonly string[]; readonly place: ColumnPlace }
  /** A column that numbers its rows goes on from the values that are there. */
  | { readonly kind: 'sync-identity'; readonly path: readonly string[] }
  | { readonly kind: 'change-default'; readonly path: readonly string[]; readonly expression: string | undefined }
  | { readonly kind: 'set-properties'; readonly properties: Readonly<Record<string, string>> }
  | { readonly kind: 'unset-properties'; readonly keys: readonly string[]; readonly ifExists: boolean }
  /** `text`: the condition as written, stored with the table. */
  | { readonly kind: 'add-constraint'; readonly name: string; readonly condition: Expression; readonly text: string }
  | { readonly kind: 'drop-constraint'; readonly name: string; readonly ifExists: boolean }
  | { readonly kind: 'cluster-by'; readonly columns: readonly (readonly string[])[] }
  | { readonly kind: 'comment'; readonly comment: string | undefined }
  | { readonly kind: 'upgrade-protocol'; readonly minReaderVersion: number; readonly minWriterVersion: number }
  | { readonly kind: 'add-feature'; readonly feature: string }
  | { readonly kind: 'drop-feature'; readonly feature: string }
  | { readonly kind: 'set-location'; readonly location: string }
  | PartitioningChange
  | RefChange;

/** Changes of how rows written from now on are divided, ordered and told apart. */
export type PartitioningChange =
  | { readonly kind: 'add-partition-field'; readonly field: PartitionFieldDefinition }
  /** By name, or by source and transform. */
  | { readonly kind: 'drop-partition-field'; readonly field: PartitionFieldDefinition | { readonly name: string } }
  | {
      readonly kind: 'replace-partition-field';
      readonly field: PartitionFieldDefinition | { readonly name: string };
      readonly by: PartitionFieldDefinition;
    }
  /** No keys: unordered. */
  | { readonly kind: 'write-order'; readonly keys: readonly WriteOrderKey[]; readonly distribution: 'none' | 'hash' | 'range' | undefined }
  | { readonly kind: 'set-identifier-fields'; readonly paths: readonly (readonly string[])[] }
  | { readonly kind: 'drop-identifier-fields'; readonly paths: readonly (readonly string[])[] };

/** Branches and tags: names of snapshots. */
export type RefChange =
  | {
      readonly kind: 'create-ref';
      readonly ref: 'branch' | 'tag';
      readonly name: string;
      readonly mode: 'create' | 'create-if-absent' | 'create-or-replace' | 'replace';
      /** Default: the newest of the main branch; a branch of a table without one starts empty. */
      readonly snapshotId?: bigint | undefined;
      readonly maxRefAgeMs?: bigint | undefined;
      readonly minSnapshotsToKeep?: number | undefined;
      readonly maxSnapshotAgeMs?: bigint | undefined;
    }
  | { readonly kind: 'drop-ref'; readonly ref: 'branch' | 'tag'; readonly name: string; readonly ifExists: boolean };

/** Changes definitions; each call is one version, or none (`undefined`) when nothing changes. */
export interface DefinitionOperations {
  alter(change: DefinitionChange, options?: CommitOptions): Promise<Version | undefined>;
}

/** What DESCRIBE DETAIL shows. */
export interface TableDetail {
  readonly format: TableFormat;
  readonly id: string;
  readonly name: string | undefined;
  readonly description: string | undefined;
  readonly location: string;
  /** Milliseconds since the epoch. */
  readonly createdAtMs: number | undefined;
  readonly lastModifiedMs: number;
  readonly partitionColumns: readonly string[];
  readonly clusteringColumns: readonly string[];
  readonly numFiles: number;
  readonly sizeInBytes: number;
  readonly properties: Readonly<Record<string, string>>;
  readonly minReaderVersion: number | undefined;
  readonly minWriterVersion: number | undefined;
  readonly tableFeatures: readonly string[];
  /** What SHOW CREATE TABLE writes for the partitioning, such as `bucket(16, id)`; default: the partition columns. */
  readonly partitioning?: readonly string[] | undefined;
  /** Properties shown and not stored, such as `current-snapshot-id`. */
  readonly shownProperties?: Readonly<Record<string, string>> | undefined;
}
