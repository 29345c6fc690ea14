import { AnalysisException } from '../../base/analysis-exception.ts';
import { parseTimestampText } from '../../expr/parse/temporal-text.ts';
import type { SessionConf } from '../conf/session-conf.ts';
import type { ChangePoint, ChangeRange, ReadPoint } from '../plan/plan.ts';
import { invalidOption, unknownOption } from '../session-errors.ts';

/** Options of reading tables. Those of streams are accepted and have no effect on a batch read, as in Spark. */
const tableOptions = [
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
] as const;

const fileOptions = {
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
 * Which version to read.
 *
 * @throws AnalysisException `DELTA_ONEOF_IN_TIMETRAVEL`, `DELTA_TIME_TRAVEL_INVALID_BEGIN_VALUE`, `DELTA_TIMESTAMP_INVALID`.
 */
export function readPointOf(options: ReadonlyMap<string, string>): ReadPoint | undefined {
  const version = options.get('versionAsOf');
  const timestamp = options.get('timestampAsOf');
  if (version !== undefined && timestamp !== undefined) {
    throw new AnalysisException({
      errorClass: 'DELTA_ONEOF_IN_TIMETRAVEL',
      sqlState: '42601',
      message: `Please either provide 'timestampAsOf' or 'versionAsOf' for time travel.`,
    });
  }
  if (version !== undefined) return versionPoint('versionAsOf', version);
  return timestamp === undefined ? undefined : timestampPoint(timestamp);
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
  const start = edge(options, 'startingVersion', 'startingTimestamp');
  if (start === undefined) {
    throw new AnalysisException({
      errorClass: 'DELTA_NO_START_FOR_CDC_READ',
      sqlState: '42601',
      message: 'No startingVersion or startingTimestamp provided for CDC read.',
    });
  }
  return {
    start,
    end: edge(options, 'endingVersion', 'endingTimestamp'),
    outOfRangeAllowed: conf.switch('spark.databricks.delta.changeDataFeed.timestampOutOfRange.enabled'),
  };
}

/** @throws AnalysisException `DELTA_TIME_TRAVEL_INVALID_BEGIN_VALUE` for text that is no whole number. */
export function versionPoint(option: string, text: string): ReadPoint {
  if (/^\s*-?\d{1,15}\s*$/.test(text)) return { kind: 'version', version: Number(text) };
  throw new AnalysisException({
    errorClass: 'DELTA_TIME_TRAVEL_INVALID_BEGIN_VALUE',
    sqlState: '42604',
    message: `${option} needs to be a valid begin value.`,
    parameters: { timeTravelKey: option },
  });
}

/** A time without zone is UTC. @throws AnalysisException `DELTA_TIMESTAMP_INVALID`. */
export function timestampPoint(text: string): ReadPoint {
  const parsed = parseTimestampText(text);
  if (parsed !== undefined) return { kind: 'timestamp', micros: parsed.micros, text };
  throw new AnalysisException({
    errorClass: 'DELTA_TIMESTAMP_INVALID',
    sqlState: '42816',
    message: `The provided timestamp ('${text}') cannot be converted to a valid timestamp.`,
    hint: 'write yyyy-MM-dd or yyyy-MM-dd HH:mm:ss[.ffffff], with a zone such as Z where it is not UTC',
    parameters: { expr: text },
  });
}

/** Of both, the version counts, as in Spark. */
function edge(options: ReadonlyMap<string, string>, version: string, timestamp: string): ChangePoint | undefined {
  const versionText = options.get(version);
  if (versionText !== undefined) return versionPoint(version, versionText);
  const timestampText = options.get(timestamp);
  return timestampText === undefined ? undefined : timestampPoint(timestampText);
}
