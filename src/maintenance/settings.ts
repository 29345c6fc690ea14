import { z } from 'zod';
import { booleanField, byteSizeField, choiceField, durationField, integerField, textField, textListField } from '../base/setting-fields.ts';
import type { CompactionRule } from '../table/operations.ts';

export interface CompactionSettings extends CompactionRule {
  readonly enabled: boolean;
}

export interface VacuumSettings {
  readonly enabled: boolean;
  /** `undefined`: the table's own retention. */
  readonly retentionMs: number | undefined;
  readonly intervalMs: number;
}

export interface CheckpointSettings {
  readonly enabled: boolean;
  /** A log checkpoint is written when so many versions follow the newest one. */
  readonly minVersions: number;
}

export interface ExpirySettings {
  readonly enabled: boolean;
  /** `undefined`: the table's own rules. */
  readonly retentionMs: number | undefined;
  /** Snapshots are expired when so many may be. */
  readonly minVersions: number;
}

export interface ManifestSettings {
  readonly enabled: boolean;
  /** Manifests are rewritten when so many are small. */
  readonly minManifests: number;
}

export interface DeleteFileSettings {
  readonly enabled: boolean;
  /** Delete files are rewritten when there are so many. */
  readonly minFiles: number;
}

/** How long the slowest reader of a table's changes may hold vacuum, expiry and log cleanup. */
export interface FeedHoldSettings {
  /** `undefined`: without a bound. */
  readonly maxAgeMs: number | undefined;
  /** `undefined`: without a bound. */
  readonly maxBytes?: number | undefined;
  /** Behind the bound: hold on, or let go of what the reader needs. */
  readonly past: 'hold' | 'release';
}

/** The query engine that rewrites files of tables on a file system. It starts with the first rewrite. */
export interface EngineSettings {
  /** Memory it may use before it spills to disk. */
  readonly memoryLimitBytes: number;
  readonly threads: number;
  /** Where it spills; `undefined`: the system's directory for temporary files. */
  readonly temporaryDirectory: string | undefined;
}

/** Keeping the tables healthy, through BullMQ queues in Redis. */
export interface MaintenanceSettings {
  readonly enabled: boolean;
  readonly sweepIntervalMs: number;
  readonly queuePrefix: string;
  /** Jobs this process runs side by side. */
  readonly concurrency: number;
  readonly maxAttempts: number;
  readonly jobTimeoutMs: number;
  readonly compaction: CompactionSettings;
  readonly vacuum: VacuumSettings;
  readonly checkpoint: CheckpointSettings;
  readonly expiry: ExpirySettings;
  readonly manifests: ManifestSettings;
  readonly deleteFiles: DeleteFileSettings;
  readonly feedHold: FeedHoldSettings;
  readonly engine: EngineSettings;
  /** Directories and URIs whose files Iceberg tables may refer to and delete beside their own. */
  readonly allowedLocations: readonly string[];
}

/** The settings as the file has them; completed by `completeMaintenance`. */
export interface MaintenanceEntry extends Omit<MaintenanceSettings, 'queuePrefix'> {
  readonly queuePrefix: string | undefined;
}

/** Names that the file leaves out are made from the pipeline's. */
export function completeMaintenance(entry: MaintenanceEntry, pipeline: string): MaintenanceSettings {
  return { ...entry, queuePrefix: entry.queuePrefix ?? `tidewater:${pipeline}` };
}

const compaction: z.ZodType<CompactionSettings> = z
  .strictObject({
    enabled: booleanField({ description: 'Plan compaction jobs.', default: true }),
    targetFileSize: byteSizeField({
      description: 'Size compacted files aim at. Files below three quarters of it are small.',
      default: '128MiB',
      min: '1MiB',
      max: '4GiB',
    }),
    minInputFiles: integerField({
      description: 'So many small files of a partition, at least, are put together; fewer when they fill a file.',
      default: 8,
      min: 2,
      max: 10_000,
      unit: 'files',
    }),
    maxDeletedPercent: integerField({
      description: 'A file is rewritten for its own sake when so much of its rows is marked as deleted.',
      default: 20,
      min: 1,
      max: 100,
      unit: '%',
    }),
    maxGroups: integerField({
      description: 'Output files of one job: the bound of its length.',
      default: 16,
      min: 1,
      max: 1_000,
      unit: 'files',
    }),
  })
  .transform(({ targetFileSize, maxDeletedPercent, ...same }) => ({
    ...same,
    targetFileBytes: targetFileSize,
    maxDeletedShare: maxDeletedPercent / 100,
  }));

const vacuum: z.ZodType<VacuumSettings> = z
  .strictObject({
    enabled: booleanField({ description: 'Plan vacuum jobs.', default: true }),
    retention: durationField({
      description:
        'Age at which files no version references are deleted. Default: the table’s own retention (7 days in Delta). A shorter one is refused.',
      min: '1h',
      max: '3650d',
    }).optional(),
    interval: durationField({ description: 'Time between two vacuums of a table.', default: '1d', min: '1m', max: '365d' }),
  })
  .transform((raw) => ({ enabled: raw.enabled, retentionMs: raw.retention, intervalMs: raw.interval }));

const checkpoint: z.ZodType<CheckpointSettings> = z.strictObject({
  enabled: booleanField({ description: 'Plan log checkpoint jobs.', default: true }),
  minVersions: integerField({
    description:
      'A log checkpoint is written when so many versions follow the newest one. Ingest writes its own; this catches up after other writers.',
    default: 100,
    min: 1,
    max: 1_000_000,
    unit: 'versions',
  }),
});

const expiry: z.ZodType<ExpirySettings> = z
  .strictObject({
    enabled: booleanField({ description: 'Plan the expiry of snapshots (Iceberg).', default: true }),
    retention: durationField({
      description: 'Age at which snapshots expire. Default: the table’s own rules (`history.expire.…`, 5 days).',
      min: '1m',
      max: '3650d',
    }).optional(),
    minVersions: integerField({
      description: 'Snapshots are expired when the table’s own rules let go of at least so many.',
      default: 10,
      min: 1,
      max: 1_000_000,
      unit: 'snapshots',
    }),
  })
  .transform((raw) => ({ enabled: raw.enabled, retentionMs: raw.retention, minVersions: raw.minVersions }));

const manifests: z.ZodType<ManifestSettings> = z.strictObject({
  enabled: booleanField({ description: 'Plan the rewriting of manifests (Iceberg).', default: true }),
  minManifests: integerField({
    description: 'Manifests are rewritten when at least so many are below half their target size.',
    default: 50,
    min: 2,
    max: 1_000_000,
    unit: 'manifests',
  }),
});

const deleteFiles: z.ZodType<DeleteFileSettings> = z.strictObject({
  enabled: booleanField({ description: 'Plan the rewriting of position delete files (Iceberg).', default: true }),
  minFiles: integerField({
    description: 'Delete files are rewritten when there are at least so many.',
    default: 100,
    min: 1,
    max: 1_000_000,
    unit: 'files',
  }),
});

const feedHold: z.ZodType<FeedHoldSettings> = z
  .strictObject({
    maxAge: durationField({
      description:
        'How old a version may be that a feed or another registered reader still needs. Behind it the log, the status and `tidewater_maintenance_holds_over` tell who holds back what.',
      default: '7d',
      min: '1s',
      max: '3650d',
    }),
    maxBytes: byteSizeField({
      description:
        'How much a feed or another registered reader may keep on storage that would be gone otherwise. Default: without a bound.',
      min: '1MiB',
      max: '1024TiB',
    }).optional(),
    past: choiceField(['hold', 'release'], {
      description:
        'Behind `maxAge` or `maxBytes`: `hold` keeps what the reader needs, however much it becomes; `release` lets vacuum, expiry and log cleanup delete it, and the feed meets a gap (`feeds[].onGap`).',
      default: 'hold',
    }),
  })
  .transform(({ maxAge, maxBytes, past }) => ({ maxAgeMs: maxAge, maxBytes, past }));

const engine: z.ZodType<EngineSettings> = z
  .strictObject({
    memoryLimit: byteSizeField({
      description: 'Memory the engine may use before it spills to disk. Decoded rows take several times the size of their files.',
      default: '512MiB',
      min: '128MiB',
      max: '1TiB',
    }),
    threads: integerField({
      description: 'Threads of the engine. They compete with ingest when one process does both.',
      default: 2,
      min: 1,
      max: 256,
      unit: 'threads',
    }),
    temporaryDirectory: textField({
      description: 'Where the engine spills. Default: the system’s directory for temporary files.',
      maxLength: 1_000,
    }).optional(),
  })
  .transform(({ memoryLimit, threads, temporaryDirectory }) => ({ memoryLimitBytes: memoryLimit, threads, temporaryDirectory }));

export const maintenanceSettings: z.ZodType<MaintenanceEntry> = z
  .strictObject({
    enabled: booleanField({ description: 'Run maintenance; without it no Redis is needed.', default: true }),
    sweepInterval: durationField({
      description: 'Time between two looks at the health of all tables.',
      default: '1m',
      min: '100ms',
      max: '1d',
    }),
    queuePrefix: textField({
      description:
        'Prefix of the queues’ keys in Redis. Pipelines that share a Redis need different ones. Default: `tidewater:<pipeline>`.',
      maxLength: 200,
    }).optional(),
    concurrency: integerField({ description: 'Jobs this process runs side by side.', default: 1, min: 1, max: 64, unit: 'jobs' }),
    maxAttempts: integerField({
      description: 'Attempts of one job before it is given up and planned anew by a later sweep.',
      default: 3,
      min: 1,
      max: 100,
    }),
    jobTimeout: durationField({ description: 'Longest run of one job.', default: '30m', min: '1s', max: '1d' }),
    compaction: compaction.prefault({}).meta({ description: 'Fewer, larger files; rows stay the same.' }),
    vacuum: vacuum.prefault({}).meta({ description: 'Deleting files no version references. Never passes the slowest change feed.' }),
    checkpoint: checkpoint.prefault({}).meta({ description: 'Summaries of the table’s log.' }),
    expiry: expiry.prefault({}).meta({ description: 'Forgetting old snapshots. Never passes the slowest change feed.' }),
    manifests: manifests.prefault({}).meta({ description: 'Fewer, larger lists of data files.' }),
    deleteFiles: deleteFiles.prefault({}).meta({ description: 'Fewer, larger files of deleted positions.' }),
    feedHold: feedHold.prefault({}).meta({ description: 'How far the slowest feed may hold vacuum, expiry and log cleanup back.' }),
    engine: engine.prefault({}).meta({ description: 'The engine that rewrites files of tables on a file system.' }),
    allowedLocations: textListField({
      description:
        'Directories and URIs whose files Iceberg tables may refer to, and maintenance may delete for them, beside the directory that the catalog knows. Metadata that names other places does not get files there deleted.',
      default: [],
      maxItems: 100,
      pattern: /^(\/|[a-zA-Z][a-zA-Z0-9+.-]*:)/,
      patternHint: 'is neither an absolute directory nor a URI',
    }),
  })
  .transform(({ sweepInterval, jobTimeout, queuePrefix, ...same }) => ({
    ...same,
    queuePrefix,
    sweepIntervalMs: sweepInterval,
    jobTimeoutMs: jobTimeout,
  }));
