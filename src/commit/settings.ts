import { z } from 'zod';
import { booleanField, byteSizeField, choiceField, durationField, integerField, textField } from '../base/setting-fields.ts';
import type { KeyIndexLimits } from '../rows/key-index/local-key-index.ts';

/** From sealed batches to table versions. */
export interface CommitSettings {
  /** Attempts against other writers of the table before the pipeline fails loudly. */
  readonly maxRebaseAttempts: number;
  /** How long an unknown outcome may stay unresolved before the pipeline fails loudly. */
  readonly verifyTimeoutMs: number;
  readonly backoff: { readonly initialMs: number; readonly maxMs: number };
  readonly compression: 'zstd' | 'snappy' | 'uncompressed';
  readonly keyIndex: KeyIndexSettings;
}

/** Of large keyed tables: where the rows of keys are, on local disk. */
export interface KeyIndexSettings extends KeyIndexLimits {
  readonly enabled: boolean;
  /** `undefined`: below `dataDir`. */
  readonly directory: string | undefined;
}

const backoff: z.ZodType<CommitSettings['backoff']> = z
  .strictObject({
    initial: durationField({ description: 'First wait after a failed attempt.', default: '20ms', min: '1ms', max: '1m' }),
    max: durationField({ description: 'Longest wait between attempts.', default: '5s', min: '1ms', max: '10m' }),
  })
  .transform((raw) => ({ initialMs: raw.initial, maxMs: raw.max }));

const keyIndex: z.ZodType<KeyIndexSettings> = z
  .strictObject({
    enabled: booleanField({ description: 'Keep an index. Without it the key columns are read at each commit.', default: true }),
    directory: textField({
      description:
        'Where it lies: a local disk that lasts over restarts spares making it anew. Whatever is deleted there is made again. Default: `key-index` below `dataDir`.',
      maxLength: 1_000,
    }).optional(),
    minRows: integerField({
      description:
        'A commit whose keys may be in files of at least so many rows asks the index, unless it has more than one key for 100 of these rows (for fewer where `minRows` is less).',
      default: 10_000_000,
      min: 1,
      max: 1_000_000_000_000,
      unit: 'rows',
    }),
    maxSize: byteSizeField({
      description:
        'Size on disk, for each table: 24 bytes a row, 8 more for each column of `orderBy`, and up to twice that for a moment. What does not fit is read from the table.',
      default: '20GiB',
      min: '1MiB',
      max: '10TiB',
    }),
  })
  .transform(({ maxSize, directory, ...same }) => ({ ...same, directory, maxBytes: maxSize }));

export const commitSettings: z.ZodType<CommitSettings> = z
  .strictObject({
    maxRebaseAttempts: integerField({
      description: 'Attempts to commit one batch against other writers of the table before its ingest fails loudly.',
      default: 100,
      min: 1,
      max: 100_000,
      unit: 'attempts',
    }),
    verifyTimeout: durationField({
      description:
        'How long a commit of unknown outcome may stay unresolved, with the table unreachable, before its ingest fails loudly. Nothing is deleted.',
      default: '2m',
      min: '1s',
      max: '1d',
    }),
    backoff: backoff.prefault({}).meta({ description: 'Waits between attempts double, with jitter.' }),
    compression: choiceField(['zstd', 'snappy', 'uncompressed'], { description: 'Compression of data files.', default: 'zstd' }),
    keyIndex: keyIndex
      .prefault({})
      .meta({ description: 'Where the rows of keys are, on local disk: for tables of mode upsert or patch that are large.' }),
  })
  .transform(({ verifyTimeout, ...same }) => ({ ...same, verifyTimeoutMs: verifyTimeout }));
