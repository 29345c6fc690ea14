import { AnalysisException } from '../../base/analysis-exception.ts';
import { unsupported } from '../../base/unsupported-feature.ts';
import { parseInstantText } from '../../expr/parse/temporal-text.ts';
import type { ZoneRule } from '../../expr/time-zone.ts';
import type { StreamOptions } from '../../table/stream.ts';
import { toVersion } from '../../table/version.ts';
import { invalidOption, unknownOption } from '../session-errors.ts';

/** Options of reading a stream. */
export const streamReadOptionNames = [
  'readChangeFeed',
  'readChangeData',
  'startingVersion',
  'startingTimestamp',
  'maxFilesPerTrigger',
  'maxBytesPerTrigger',
  'ignoreDeletes',
  'ignoreChanges',
  'ignoreFileDeletion',
  'skipChangeCommits',
  'failOnDataLoss',
  'excludeRegex',
  'path',
  'stream-from-timestamp',
  'streaming-skip-delete-snapshots',
  'streaming-skip-overwrite-snapshots',
  'streaming-max-files-per-micro-batch',
  'streaming-max-rows-per-micro-batch',
] as const;

/** What Delta knows, and a stream here does not do. */
const refusedOptions: ReadonlyMap<string, string> = new Map(
  ['schemaTrackingLocation', 'schemaLocation', 'streamingSourceTrackingId', 'allowSourceColumnDrop', 'allowSourceColumnRename'].map(
    (name) => [
      name.toLowerCase(),
      'after a column was renamed or dropped, start with an empty checkpoint folder and a startingVersion behind the change',
    ],
  ),
);

const byteUnits: Readonly<Record<string, number>> = { '': 1, b: 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };

/** Names of options in their own spelling. @throws AnalysisException `UNKNOWN_OPTION` with the nearest one. */
export function streamReadOptions(options: Iterable<readonly [string, string]>): ReadonlyMap<string, string> {
  return spelled(options, streamReadOptionNames, 'reading a stream');
}

/** Names found in `known` without regard to case. @throws AnalysisException `UNKNOWN_OPTION`. */
export function spelled(
  options: Iterable<readonly [string, string]>,
  known: readonly string[],
  where: string,
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [name, value] of options) {
    const option = known.find((each) => each.toLowerCase() === name.toLowerCase());
    const instead = refusedOptions.get(name.toLowerCase());
    if (instead !== undefined) throw unsupported(`the option "${name}"`, instead);
    if (option === undefined) throw unknownOption(name, where, known);
    found.set(option, value);
  }
  return found;
}

/** What a table is asked for. @throws AnalysisException `DELTA_ILLEGAL_OPTION` naming option and value. */
export function streamOptionsOf(options: ReadonlyMap<string, string>, zone: ZoneRule): StreamOptions {
  return {
    changeFeed: flag(options, 'readChangeFeed') ?? flag(options, 'readChangeData') ?? false,
    start: startOf(options, zone),
    maxFilesPerTrigger: positive(options, 'maxFilesPerTrigger') ?? positive(options, 'streaming-max-files-per-micro-batch'),
    maxBytesPerTrigger: bytesOf(options, 'maxBytesPerTrigger'),
    maxRowsPerTrigger: positive(options, 'streaming-max-rows-per-micro-batch'),
    ignoreDeletes: flag(options, 'ignoreDeletes') ?? flag(options, 'streaming-skip-delete-snapshots'),
    ignoreChanges: flag(options, 'ignoreChanges') ?? flag(options, 'ignoreFileDeletion'),
    skipChangeCommits: flag(options, 'skipChangeCommits') ?? flag(options, 'streaming-skip-overwrite-snapshots'),
    failOnDataLoss: flag(options, 'failOnDataLoss'),
    excludePaths: pattern(options, 'excludeRegex'),
  };
}

function startOf(options: ReadonlyMap<string, string>, zone: ZoneRule): StreamOptions['start'] {
  const version = options.get('startingVersion');
  const timestamp = options.get('startingTimestamp');
  const since = options.get('stream-from-timestamp');
  if (version !== undefined && timestamp !== undefined) {
    throw invalidOption('startingTimestamp', timestamp, 'give either startingVersion or startingTimestamp');
  }
  if (since !== undefined) {
    if ((version ?? timestamp) !== undefined) throw invalidOption('stream-from-timestamp', since, 'give one start');
    if (!/^\d{1,15}$/.test(since)) throw invalidOption('stream-from-timestamp', since, 'it must be milliseconds since the epoch');
    return { kind: 'timestamp', timestampMs: Number(since) };
  }
  if (version !== undefined) {
    if (version.toLowerCase() === 'latest') return { kind: 'latest' };
    if (!/^\d{1,15}$/.test(version)) throw invalidOption('startingVersion', version, 'it must be a whole number or latest');
    return { kind: 'version', version: toVersion(Number(version)) };
  }
  if (timestamp === undefined) return undefined;
  const micros = parseInstantText(timestamp, zone);
  if (micros === undefined) throw invalidOption('startingTimestamp', timestamp, 'it must be a date or a time, such as 2026-01-31 10:00:00');
  return { kind: 'timestamp', timestampMs: Number(micros / 1000n) };
}

function flag(options: ReadonlyMap<string, string>, name: string): boolean | undefined {
  const value = options.get(name);
  if (value !== undefined && !/^(true|false)$/i.test(value)) throw invalidOption(name, value, 'it must be true or false');
  return value === undefined ? undefined : value.toLowerCase() === 'true';
}

function pattern(options: ReadonlyMap<string, string>, name: string): RegExp | undefined {
  const value = options.get(name);
  if (value === undefined) return undefined;
  try {
    return new RegExp(value, 'u');
  } catch (error) {
    throw new AnalysisException({
      errorClass: 'DELTA_REGEX_OPT_SYNTAX_ERROR',
      message: `Please recheck your syntax for '${name}'`,
      parameters: { regExpOption: name },
      cause: error,
    });
  }
}

function positive(options: ReadonlyMap<string, string>, name: string): number | undefined {
  const value = options.get(name);
  if (value !== undefined && !/^[1-9]\d{0,8}$/.test(value)) throw invalidOption(name, value, 'it must be a positive whole number');
  return value === undefined ? undefined : Number(value);
}

function bytesOf(options: ReadonlyMap<string, string>, name: string): number | undefined {
  const value = options.get(name);
  if (value === undefined) return undefined;
  const [, count, unit = ''] = /^\s*([1-9]\d{0,15})\s*([bkmgt]?)b?\s*$/i.exec(value) ?? [];
  const factor = byteUnits[unit.toLowerCase()];
  if (count === undefined || factor === undefined) throw invalidOption(name, value, 'it must be a size such as 10m or 1g');
  return Number(count) * factor;
}
