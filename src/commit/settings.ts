import { z } from 'zod';
import { choiceField, durationField, integerField } from '../base/setting-fields.ts';

/** From sealed batches to table versions. */
export interface CommitSettings {
  /** Attempts against other writers of the table before the pipeline fails loudly. */
  readonly maxRebaseAttempts: number;
  /** How long an unknown outcome may stay unresolved before the pipeline fails loudly. */
  readonly verifyTimeoutMs: number;
  readonly backoff: { readonly initialMs: number; readonly maxMs: number };
  readonly compression: 'zstd' | 'snappy' | 'uncompressed';
}

const backoff: z.ZodType<CommitSettings['backoff']> = z
  .strictObject({
    initial: durationField({ description: 'First wait after a failed attempt.', default: '20ms', min: '1ms', max: '1m' }),
    max: durationField({ description: 'Longest wait between attempts.', default: '5s', min: '1ms', max: '10m' }),
  })
  .transform((raw) => ({ initialMs: raw.initial, maxMs: raw.max }));

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
  })
  .transform(({ verifyTimeout, ...same }) => ({ ...same, verifyTimeoutMs: verifyTimeout }));
