import type { Expression } from '../../expr/expression.ts';
import type { ContentFile, ManifestFile } from '../metadata/content-file.ts';
import type { MetadataUpdate } from '../metadata/metadata-updates.ts';

/**
 * What a commit puts into a new snapshot, as data: it is worked out once and applied to whatever base is the newest, attempt by attempt.
 * https://iceberg.apache.org/spec/#snapshots
 */
export interface SnapshotChange {
  /**
   * `append`: only adds, in a manifest of its own (`fast`) or merged (default by `commit.manifest-merge.enabled`). `replace`: the same rows in
   * other files. `row-delta`: adds delete files. `overwrite`: removes and adds data files. The summary's `operation` follows from the content.
   */
  readonly kind: 'append' | 'fast-append' | 'overwrite' | 'row-delta' | 'replace' | 'rewrite-manifests';
  readonly added: readonly ContentFile[];
  /** The added files were there before the change, which was made by looking at them or at a snapshot of theirs: they are not looked for again. */
  readonly addsKnownFiles?: boolean | undefined;
  /** Data and delete files that go, as the base's manifests have them (by path; deletion vectors by path and offset). */
  readonly removed: readonly ContentFile[];
  /** Removes every data file whose partition or bounds say that all its rows match; @throws when a file may hold rows of both kinds. */
  readonly removedWhere?: Expression | undefined;
  /** Removes every data file of these partitions (dynamic overwrite): by spec and values. */
  readonly replacedPartitions?: readonly { readonly specId: number; readonly partition: ContentFile['partition'] }[] | undefined;
  /** `rewrite-manifests`: manifests that take the place of others, entries `existing` with all their numbers. */
  readonly manifests?: { readonly removed: readonly ManifestFile[]; readonly added: readonly ManifestFile[] } | undefined;
  /** Data sequence number of the added data files, for rewrites that equality deletes of later snapshots still concern. */
  readonly dataSequenceNumber?: bigint | undefined;
  readonly validation: ChangeValidation;
  /** Beside the counts, which are made by the commit. */
  readonly summary: Readonly<Record<string, string>>;
  /** Other updates of the same swap: offsets as a property, a schema that came with the rows. */
  readonly updates?: readonly MetadataUpdate[] | undefined;
  /** The new snapshot has no parent and none of the base's files: a replaced table. */
  readonly fresh?: boolean | undefined;
  /** Made by what keeps a twin: nobody else changes the files of such a table. */
  readonly ofTwin?: boolean | undefined;
  /** Adds the snapshot without making it the branch's newest (write-audit-publish). */
  readonly stageOnly?: boolean | undefined;
}

/** What is looked for in snapshots committed since `since`; found: `ValidationException`. https://iceberg.apache.org/docs/latest/reliability/ */
export interface ChangeValidation {
  /** Snapshot the change was worked out from; `undefined`: the table was empty. */
  readonly since?: bigint | undefined;
  /** No data files added that may hold rows of this condition; `true`: none at all. */
  readonly noNewData?: Expression | true | undefined;
  /** No delete files added that may concern rows of this condition; `true`: none at all. */
  readonly noNewDeletes?: Expression | true | undefined;
  /** No delete files added for the files that are removed. */
  readonly noNewDeletesForRemoved?: boolean | undefined;
  /** Data files that must still be live. */
  readonly requiredFiles?: readonly string[] | undefined;
}
