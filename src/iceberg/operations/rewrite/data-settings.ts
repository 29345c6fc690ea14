import { type RewriteOptions, refuseUnless, type SizeLimits, sizeLimits } from './rewrite-options.ts';

/** How data files are chosen and rewritten (https://iceberg.apache.org/docs/latest/spark-procedures/#rewrite_data_files). */
export interface DataRewriteSettings extends SizeLimits {
  /** A file with this many delete files or more is rewritten. */
  readonly deleteFileThreshold: number;
  /** A file of which at least this share of the rows is deleted, by delete files of its own, is rewritten. */
  readonly deleteRatio: number;
  /** Groups become several commits; one that fails does not fail the others. */
  readonly partialProgress: boolean;
  readonly maxCommits: number;
  readonly concurrency: number;
  /** New files keep the sequence number the rewrite began at, so that equality deletes of later snapshots still concern them. */
  readonly useStartingSequenceNumber: boolean;
  readonly removeDanglingDeletes: boolean;
  readonly jobOrder: 'none' | 'bytes-asc' | 'bytes-desc' | 'files-asc' | 'files-desc';
  readonly outputSpecId: number | undefined;
  readonly maxFiles: number;
}

const maxInt = 2 ** 31 - 1;
const defaultTargetFileBytes = 512 * 2 ** 20;
const defaultDeleteRatio = 0.3;
const defaultConcurrency = 5;
const defaultMaxCommits = 10;
const jobOrders = ['none', 'bytes-asc', 'bytes-desc', 'files-asc', 'files-desc'] as const;
/** What other engines need for spreading rows over machines; nothing here. */
const withoutEffect = [
  'compression-factor',
  'shuffle-partitions-per-file',
  'max-output-size',
  'var-length-contribution',
  'partial-progress.max-failed-commits',
];

/** @throws AnalysisException `INVALID_ARGUMENT` for options that are unknown or make no sense. */
export function dataRewriteSettings(
  properties: Readonly<Record<string, string>>,
  options: RewriteOptions,
  rewriter: string,
): DataRewriteSettings {
  const stated = Number(properties['write.target-file-size-bytes'] ?? Number.NaN);
  const limits = sizeLimits(options, stated > 0 ? stated : defaultTargetFileBytes);
  const deleteFileThreshold = options.number('delete-file-threshold', maxInt);
  refuseUnless(deleteFileThreshold >= 0, `'delete-file-threshold' is set to ${deleteFileThreshold} but must be >= 0`);
  const deleteRatio = options.number('delete-ratio-threshold', defaultDeleteRatio, 'fraction');
  refuseUnless(deleteRatio > 0, `'delete-ratio-threshold' is set to ${deleteRatio} but must be > 0`);
  refuseUnless(deleteRatio <= 1, `'delete-ratio-threshold' is set to ${deleteRatio} but must be <= 1`);
  const concurrency = options.number('max-concurrent-file-group-rewrites', defaultConcurrency);
  refuseUnless(concurrency >= 1, `Cannot set max-concurrent-file-group-rewrites to ${concurrency}, the value must be positive.`);
  const partialProgress = options.boolean('partial-progress.enabled', false);
  const maxCommits = options.number('partial-progress.max-commits', defaultMaxCommits);
  refuseUnless(
    !partialProgress || maxCommits > 0,
    `Cannot set partial-progress.max-commits to ${maxCommits}, the value must be positive when partial-progress.enabled is true`,
  );
  const order = (options.text('rewrite-job-order') ?? 'none').toLowerCase();
  const jobOrder = jobOrders.find((known) => known === order);
  refuseUnless(jobOrder !== undefined, `Invalid rewrite job order name: ${order}`);
  const outputSpecId = options.number('output-spec-id', -1);
  const maxFiles = options.number('max-files-to-rewrite', Number.POSITIVE_INFINITY);
  refuseUnless(maxFiles > 0, `Cannot set max-files-to-rewrite to ${maxFiles}, the value must be positive integer.`);
  const settings: DataRewriteSettings = {
    ...limits,
    deleteFileThreshold,
    deleteRatio,
    partialProgress,
    maxCommits,
    concurrency,
    useStartingSequenceNumber: options.boolean('use-starting-sequence-number', true),
    removeDanglingDeletes: options.boolean('remove-dangling-deletes', false),
    jobOrder: jobOrder ?? 'none',
    outputSpecId: outputSpecId < 0 ? undefined : outputSpecId,
    maxFiles,
  };
  for (const name of withoutEffect) options.text(name);
  options.refuseOthers(rewriter);
  return settings;
}
