import { serviceError } from '../base/errors.ts';

/** Table properties that decide how a table is written and maintained, with the defaults every engine shares. */
export interface DeltaProperties {
  readonly appendOnly: boolean;
  readonly changeDataFeed: boolean;
  readonly deletionVectors: boolean;
  readonly inCommitTimestamps: boolean;
  /** Rows have ids and commit versions that survive rewrites. */
  readonly rowTracking: boolean;
  /** Column types may grow without rewriting files. */
  readonly typeWidening: boolean;
  /** A log checkpoint is due after each version divisible by this. */
  readonly checkpointInterval: number;
  readonly checkpointPolicy: string;
  readonly checkpointStatsAsJson: boolean;
  /** Default false, as the protocol says. */
  readonly checkpointStatsAsStruct: boolean;
  /** How long a removed file stays for readers of older versions. */
  readonly deletedFileRetentionMs: number;
  readonly logRetentionMs: number;
  /** Progress marks older than this are forgotten by log checkpoints; `undefined`: never. */
  readonly transactionRetentionMs: number | undefined;
  readonly expiredLogCleanup: boolean;
  /** Leaf columns, in schema order, that get bounds; -1 = all. */
  readonly statisticsColumns: number;
  /** The columns that get bounds, by name as written; instead of `statisticsColumns`. */
  readonly statisticsColumnNames: readonly string[] | undefined;
  /** `undefined`: the session or the writer decides. */
  readonly optimizeWrite: boolean | undefined;
  readonly autoCompact: boolean | undefined;
  /** `undefined`: the writer decides. */
  readonly compression: string | undefined;
  /** What OPTIMIZE aims at; `undefined`: its own default. */
  readonly targetFileBytes: number | undefined;
}

const dayMs = 86_400_000;

/**
 * Reads the properties of a table.
 *
 * @throws ServiceError `DELTA_PROPERTY_INVALID` (kind invalid) naming property and value.
 */
export function deltaProperties(configuration: Readonly<Record<string, string>>, table: string): DeltaProperties {
  const text = (key: string): string | undefined => configuration[key];
  const flag = (key: string, fallback: boolean): boolean => (text(key) === undefined ? fallback : text(key)?.toLowerCase() === 'true');
  const read = <Value>(key: string, fallback: Value, parse: (value: string) => Value | undefined): Value => {
    const value = text(key);
    return value === undefined ? fallback : (parse(value) ?? invalid(table, key, value));
  };
  return {
    appendOnly: flag('delta.appendOnly', false),
    changeDataFeed: flag('delta.enableChangeDataFeed', false),
    deletionVectors: flag('delta.enableDeletionVectors', false),
    inCommitTimestamps: flag('delta.enableInCommitTimestamps', false),
    rowTracking: flag('delta.enableRowTracking', false),
    typeWidening: flag('delta.enableTypeWidening', false),
    checkpointInterval: read('delta.checkpointInterval', 10, parseCount),
    checkpointPolicy: text('delta.checkpointPolicy')?.toLowerCase() ?? 'classic',
    checkpointStatsAsJson: flag('delta.checkpoint.writeStatsAsJson', true),
    checkpointStatsAsStruct: flag('delta.checkpoint.writeStatsAsStruct', false),
    deletedFileRetentionMs: read('delta.deletedFileRetentionDuration', 7 * dayMs, parseInterval),
    logRetentionMs: read('delta.logRetentionDuration', 30 * dayMs, parseInterval),
    transactionRetentionMs: read('delta.setTransactionRetentionDuration', undefined, parseInterval),
    expiredLogCleanup: flag('delta.enableExpiredLogCleanup', true),
    statisticsColumns: read('delta.dataSkippingNumIndexedCols', 32, (value) => (/^(-1|\d{1,6})$/.test(value) ? Number(value) : undefined)),
    statisticsColumnNames:
      text('delta.dataSkippingStatsColumns') === undefined ? undefined : columnNames(text('delta.dataSkippingStatsColumns') ?? ''),
    optimizeWrite: switched(text('delta.autoOptimize.optimizeWrite') ?? text('delta.autoOptimize')),
    autoCompact: switched(text('delta.autoOptimize') ?? text('delta.autoOptimize.autoCompact')),
    compression: text('delta.parquet.compression.codec')?.toLowerCase(),
    targetFileBytes: read('delta.targetFileSize', undefined, parseSize),
  };
}

const unitMs: ReadonlyMap<string, number> = new Map([
  ['week', 7 * dayMs],
  ['day', dayMs],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
  ['millisecond', 1],
  ['microsecond', 0.001],
]);

/** Milliseconds of `interval 1 week`, `7 days`, `interval 1 day 12 hours`; `undefined` for anything else (months, years, text). */
export function parseInterval(text: string): number | undefined {
  const words = text
    .trim()
    .toLowerCase()
    .replace(/^interval\s+/, '')
    .split(/\s+/);
  if (words.length < 2 || words.length % 2 !== 0) return undefined;
  let total = 0;
  for (let index = 0; index < words.length; index += 2) {
    const factor = unitMs.get((words[index + 1] ?? '').replace(/s$/, ''));
    if (factor === undefined || !/^-?\d{1,12}$/.test(words[index] ?? '')) return undefined;
    total += Number(words[index]) * factor;
  }
  return total >= 0 ? Math.floor(total) : undefined;
}

/** Bytes of `134217728`, `128mb`, `1 GB` (units of 1,024); `undefined` for anything else. */
export function parseSize(text: string): number | undefined {
  const [, count, unit = ''] = /^\s*([1-9]\d{0,14})\s*([kmgt]?)b?\s*$/i.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * 1024 ** ' kmgt'.indexOf(unit.toLowerCase() || ' ');
}

/** Names of a comma-separated list; a name in backquotes may hold commas. */
function columnNames(text: string): readonly string[] {
  const names = text.match(/(?:`(?:[^`]|``)*`|[^,`])+/g) ?? [];
  return names.map((name) => name.trim()).filter((name) => name !== '');
}

function switched(value: string | undefined): boolean | undefined {
  return value === undefined ? undefined : value.toLowerCase() === 'true' || value.toLowerCase() === 'auto';
}

function parseCount(text: string): number | undefined {
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
}

function invalid(table: string, key: string, value: string): never {
  throw serviceError.invalid(
    'DELTA_PROPERTY_INVALID',
    `table "${table}": property "${key}" has the value "${value}", which cannot be read`,
    { hint: 'set the property to a value of the Delta documentation, for example "interval 7 days" for a duration' },
  );
}
