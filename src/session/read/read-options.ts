import { AnalysisException } from '../../base/analysis-exception.ts';
import { parseInstantText } from '../../expr/parse/temporal-text.ts';
import type { ZoneRule } from '../../expr/time-zone.ts';
import type { OpenTableOptions } from '../../table/table-formats.ts';
import type { SessionConf } from '../conf/session-conf.ts';
import type { ChangePoint, ChangeRange, ReadPoint } from '../plan/plan.ts';
import { invalidOption, unknownOption } from '../session-errors.ts';

/** Options of reading tables. */
export const tableOptions = [
  'versionAsOf',
  'timestampAsOf',
  'readChangeFeed',
  'readChangeData',
  'startingVersion',
  'startingTimestamp',
  'endingVersion',
  'endingTimestamp',
  'ignoreDeletes',
  'ignoreChanges',
  'skipChangeCommits',
  'maxFilesPerTrigger',
  'maxBytesPerTrigger',
  'failOnDataLoss',
  'path',
  'snapshot-id',
  'as-of-timestamp',
  'branch',
  'tag',
  'start-snapshot-id',
  'end-snapshot-id',
  'path-map',
  'path-base',
  'split-size',
  'lookback',
  'file-open-cost',
  'vectorization-enabled',
  'batch-size',
  'locality',
] as const;

const ofStreams = 'of streams; a batch read does not look at it in Spark either';
const divided = 'how Spark divides a read among its tasks';

/** Why an option changes nothing that one can see in a batch read. */
export const idleReadOptions: Readonly<Partial<Record<(typeof tableOptions)[number], string>>> = {
  ignoreDeletes: ofStreams,
  ignoreChanges: ofStreams,
  skipChangeCommits: ofStreams,
  maxFilesPerTrigger: ofStreams,
  maxBytesPerTrigger: ofStreams,
  failOnDataLoss: ofStreams,
  'split-size': divided,
  lookback: divided,
  'file-open-cost': divided,
  'vectorization-enabled': divided,
  'batch-size': divided,
  locality: divided,
};

/** Options of reading files, by their format. */
export const fileOptions = {
  parquet: ['mergeSchema', 'path'],
  json: ['multiLine', 'dropMalformed', 'path'],
  csv: ['header', 'inferSchema', 'sep', 'delimiter', 'quote', 'escape', 'comment', 'nullValue', 'dateFormat', 'timestampFormat', 'path'],
} as const;

/** Names of options in the spelling of the lists above. @throws AnalysisException `UNKNOWN_OPTION` with the nearest one. */
export function canonicalOptions(
  format: 'table' | 'parquet' | 'csv' | 'json',
  options: Iterable<readonly [string, string]>,
): ReadonlyMap<string, string> {
  const known: readonly string[] = format === 'table' ? tableOptions : fileOptions[format];
  const canonical = new Map<string, string>();
  for (const [name, value] of options) {
    const found = known.find((option) => option.toLowerCase() === name.toLowerCase());
    if (found === undefined) throw unknownOption(name, format === 'table' ? 'reading a table' : `reading ${format}`, known);
    canonical.set(found === 'delimiter' ? 'sep' : found, value);
  }
  return canonical;
}

/**
 * Which snapshot to read.
 *
 * @throws AnalysisException `DELTA_ONEOF_IN_TIMETRAVEL`, `DELTA_TIME_TRAVEL_INVALID_BEGIN_VALUE`, `DELTA_TIMESTAMP_INVALID`,
 * `DELTA_ILLEGAL_OPTION`.
 */
export function readPointOf(options: ReadonlyMap<string, string>, zone?: ZoneRule): ReadPoint | undefined {
  const named = pointOptions.filter((name) => options.has(name));
  const [first, second] = named;
  if (first !== undefined && (second !== undefined || options.has('versionAsOf') || options.has('timestampAsOf'))) {
    const other = second ?? (options.has('versionAsOf') ? 'versionAsOf' : 'timestampAsOf');
    throw invalidOption(first, options.get(first) ?? '', `it cannot be given together with ${other}`);
  }
  const bound = ['start-snapshot-id', 'end-snapshot-id'].find((name) => options.has(name));
  if (first !== undefined && bound !== undefined)
    throw invalidOption(first, options.get(first) ?? '', `it cannot be given together with ${bound}`);
  if (first !== undefined) return namedPoint(first, options.get(first) ?? '');
  const end = options.get('end-snapshot-id');
  if (end !== undefined) return { kind: 'snapshot-id', id: snapshotId('end-snapshot-id', end) };
  const version = options.get('versionAsOf');
  const timestamp = options.get('timestampAsOf');
  if (version !== undefined && timestamp !== undefined) {
    throw new AnalysisException({
      errorClass: 'DELTA_ONEOF_IN_TIMETRAVEL',
      message: `Please either provide 'timestampAsOf' or 'versionAsOf' for time travel.`,
    });
  }
  if (version !== undefined) return { kind: 'version', version: version.trim() };
  return timestamp === undefined ? undefined : timestampPoint(timestamp, zone);
}

/** The snapshot after which appended rows are read. @throws AnalysisException `DELTA_ILLEGAL_OPTION`. */
export function appendedAfterOf(options: ReadonlyMap<string, string>): bigint | undefined {
  const start = options.get('start-snapshot-id');
  if (start !== undefined) return snapshotId('start-snapshot-id', start);
  const end = options.get('end-snapshot-id');
  if (end !== undefined) throw invalidOption('end-snapshot-id', end, 'it needs start-snapshot-id');
  return undefined;
}

/** Where the files of a copied table are: `path-map` is `FROM=TO`, several separated by commas. @throws AnalysisException `DELTA_ILLEGAL_OPTION`. */
export function openOptionsOf(options: ReadonlyMap<string, string>): OpenTableOptions | undefined {
  const [map, pathBase] = [options.get('path-map'), options.get('path-base')];
  if (map === undefined && pathBase === undefined) return undefined;
  return { pathMap: (map ?? '').split(',').filter(Boolean).map(pathMapping), pathBase };
}

/** @throws AnalysisException `DELTA_ILLEGAL_OPTION` for text without `=`. */
function pathMapping(text: string): { readonly from: string; readonly to: string } {
  const at = text.indexOf('=');
  if (at <= 0) throw invalidOption('path-map', text, 'it must be FROM=TO');
  return { from: text.slice(0, at), to: text.slice(at + 1) };
}

const pointOptions = ['snapshot-id', 'as-of-timestamp', 'branch', 'tag'] as const;

function namedPoint(option: (typeof pointOptions)[number], value: string): ReadPoint {
  switch (option) {
    case 'snapshot-id':
      return { kind: 'snapshot-id', id: snapshotId(option, value) };
    case 'as-of-timestamp':
      if (!/^\d{1,15}$/.test(value)) throw invalidOption(option, value, 'it must be milliseconds since 1970');
      return { kind: 'timestamp', micros: BigInt(value) * 1000n, text: value };
    case 'branch':
    case 'tag':
      return { kind: option, name: value };
  }
}

function snapshotId(option: string, value: string): bigint {
  if (/^\d{1,19}$/.test(value)) return BigInt(value);
  throw invalidOption(option, value, "it must be a snapshot's id");
}

/**
 * The range of a change feed, when one is asked for.
 *
 * @throws AnalysisException `DELTA_NO_START_FOR_CDC_READ`, and as `readPointOf`.
 */
export function changeRangeOf(options: ReadonlyMap<string, string>, conf: SessionConf): ChangeRange | undefined {
  const asked = options.get('readChangeFeed') ?? options.get('readChangeData') ?? 'false';
  if (!/^(true|false)$/i.test(asked)) throw invalidOption('readChangeFeed', asked, 'it must be true or false');
  if (asked.toLowerCase() === 'false') return undefined;
  const zone = conf.zone?.rule;
  const start = edge(options, ['startingVersion', 'startingTimestamp'], zone);
  if (start === undefined) {
    throw new AnalysisException({
      errorClass: 'DELTA_NO_START_FOR_CDC_READ',
      message: 'No startingVersion or startingTimestamp provided for CDC read.',
    });
  }
  return {
    start,
    end: edge(options, ['endingVersion', 'endingTimestamp'], zone),
    outOfRangeAllowed: conf.switch('spark.databricks.delta.changeDataFeed.timestampOutOfRange.enabled'),
  };
}

/** @throws AnalysisException `DELTA_TIME_TRAVEL_INVALID_BEGIN_VALUE` for text that is no whole number. */
function versionPoint(option: string, text: string): Extract<ChangePoint, { readonly kind: 'version' }> {
  if (/^\s*-?\d{1,15}\s*$/.test(text)) return { kind: 'version', version: Number(text) };
  throw new AnalysisException({
    errorClass: 'DELTA_TIME_TRAVEL_INVALID_BEGIN_VALUE',
    message: `${option} needs to be a valid begin value.`,
    parameters: { timeTravelKey: option },
  });
}

/** A time without zone is a local one of `zone`. @throws AnalysisException `DELTA_TIMESTAMP_INVALID`. */
export function timestampPoint(text: string, zone?: ZoneRule): Extract<ChangePoint, { readonly kind: 'timestamp' }> {
  const micros = parseInstantText(text, zone);
  if (micros !== undefined) return { kind: 'timestamp', micros, text };
  throw new AnalysisException({
    errorClass: 'DELTA_TIMESTAMP_INVALID',
    message: `The provided timestamp ('${text}') cannot be converted to a valid timestamp.`,
    hint: "write yyyy-MM-dd or yyyy-MM-dd HH:mm:ss[.ffffff], with a zone such as Z where it is not the session's",
    parameters: { expr: text },
  });
}

/** Of both, the version counts, as in Spark. */
function edge(
  options: ReadonlyMap<string, string>,
  [version, timestamp]: readonly [string, string],
  zone: ZoneRule,
): ChangePoint | undefined {
  const versionText = options.get(version);
  if (versionText !== undefined) return versionPoint(version, versionText);
  const timestampText = options.get(timestamp);
  return timestampText === undefined ? undefined : timestampPoint(timestampText, zone);
}
