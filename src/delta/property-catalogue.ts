import { AnalysisException } from '../base/analysis-exception.ts';
import { nearestName } from '../base/nearest-name.ts';
import { type DeltaProperties, parseInterval, parseSize } from './properties.ts';

/** A table property engines agree on. */
interface KnownProperty {
  readonly key: string;
  readonly accepts: (value: string) => boolean;
  /** What a value must be, to end the sentence "<key> needs to be …". */
  readonly needs: string;
  /** Why nothing reads it. */
  readonly withoutEffect?: string | undefined;
  /** Whether a value is not even of its kind. */
  readonly isInterval?: boolean | undefined;
}

const flagValues: ReadonlySet<string> = new Set(['true', 'false']);
const flag = (key: string): KnownProperty => ({ key, accepts: (value) => flagValues.has(value.toLowerCase()), needs: 'true or false' });
const off = (key: string, why = 'tables with this feature are not written here'): KnownProperty => ({
  key,
  accepts: (value) => value.toLowerCase() === 'false',
  needs: `false: ${why}`,
  withoutEffect: why,
});
const count = (key: string): KnownProperty => ({
  key,
  accepts: (value) => /^[1-9]\d{0,8}$/.test(value.trim()),
  needs: 'a positive integer',
});
const countOrAll = (key: string): KnownProperty => ({
  key,
  accepts: (value) => /^(-1|\d{1,9})$/.test(value.trim()),
  needs: 'larger than or equal to -1',
});
const interval = (key: string): KnownProperty => ({
  key,
  accepts: (value) => parseInterval(value) !== undefined,
  needs:
    'provided as a calendar interval such as "2 weeks". Months and years are not accepted. You may specify "365 days" for a year instead',
  isInterval: true,
});
const oneOf = (key: string, ...values: readonly string[]): KnownProperty => ({
  key,
  accepts: (value) => values.some((known) => known.toLowerCase() === value.toLowerCase()),
  needs: `one of ${values.join(', ')}`,
});
const free = (key: string): KnownProperty => ({ key, accepts: () => true, needs: 'text' });
const size = (key: string): KnownProperty => ({
  key,
  accepts: (value) => parseSize(value) !== undefined,
  needs: 'a size in bytes, such as 134217728 or 128mb',
});
const idle = (property: KnownProperty, withoutEffect: string): KnownProperty => ({ ...property, withoutEffect });

/** Every property of Delta's own; one without a reason why nothing reads it has a reader. */
export const knownProperties: readonly KnownProperty[] = [
  flag('delta.appendOnly'),
  oneOf('delta.autoOptimize', 'true', 'false', 'auto'),
  oneOf('delta.autoOptimize.autoCompact', 'true', 'false', 'auto'),
  oneOf('delta.autoOptimize.optimizeWrite', 'true', 'false'),
  count('delta.checkpointInterval'),
  oneOf('delta.checkpointPolicy', 'classic', 'v2'),
  idle(
    interval('delta.checkpointRetentionDuration'),
    'checkpoints go with the log: delta.logRetentionDuration; Delta reads it no more either',
  ),
  flag('delta.checkpoint.writeStatsAsJson'),
  flag('delta.checkpoint.writeStatsAsStruct'),
  countOrAll('delta.columnMapping.maxColumnId'),
  oneOf('delta.columnMapping.mode', 'none', 'name', 'id'),
  countOrAll('delta.dataSkippingNumIndexedCols'),
  free('delta.dataSkippingStatsColumns'),
  interval('delta.deletedFileRetentionDuration'),
  idle(interval('delta.dropFeatureTruncateHistory.retentionDuration'), 'DROP FEATURE … TRUNCATE HISTORY is refused by name'),
  flag('delta.enableChangeDataFeed'),
  flag('delta.enableDeletionVectors'),
  flag('delta.enableExpiredLogCleanup'),
  idle(flag('delta.enableFullRetentionRollback'), 'versions can be restored for as long as the log is kept'),
  off('delta.enableIcebergCompatV1'),
  off('delta.enableIcebergCompatV2'),
  off('delta.enableIcebergCompatV3'),
  flag('delta.enableInCommitTimestamps'),
  flag('delta.enableRowTracking'),
  flag('delta.enableTypeWidening'),
  off('delta.enableVariantShredding'),
  count('delta.inCommitTimestampEnablementTimestamp'),
  countOrAll('delta.inCommitTimestampEnablementVersion'),
  oneOf('delta.isolationLevel', 'Serializable'),
  interval('delta.logRetentionDuration'),
  oneOf('delta.parquet.compression.codec', 'zstd', 'snappy', 'uncompressed', 'none', 'gzip', 'lz4_raw', 'brotli'),
  off('delta.randomizeFilePrefixes', 'files are named by their partition'),
  idle(count('delta.randomPrefixLength'), 'delta.randomizeFilePrefixes is refused'),
  free('delta.rowTracking.materializedRowCommitVersionColumnName'),
  free('delta.rowTracking.materializedRowIdColumnName'),
  idle(interval('delta.sampleRetentionDuration'), 'Delta reads it no more either'),
  interval('delta.setTransactionRetentionDuration'),
  size('delta.targetFileSize'),
  idle(flag('delta.tuneFileSizesForRewrites'), 'files are as large as delta.targetFileSize says; Delta reads it nowhere'),
];

const byLowerKey: ReadonlyMap<string, KnownProperty> = new Map(knownProperties.map((property) => [property.key.toLowerCase(), property]));
const constraintPrefix = 'delta.constraints.';

/**
 * Properties as a table stores them: keys of Delta's own are found whatever their case and stored in their canonical spelling; all others
 * stay as they are.
 *
 * @param arbitrary unknown keys below `delta.` are taken as they are (`spark.databricks.delta.allowArbitraryProperties.enabled`).
 * @throws AnalysisException `DELTA_UNKNOWN_CONFIGURATION` (F0000), `_LEGACY_ERROR_TEMP_2045` (alias `DELTA_PROPERTY_INVALID`) for a value the
 * property cannot have.
 */
export function canonicalProperties(properties: Readonly<Record<string, string>>, arbitrary?: boolean): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(properties).map(([key, value]): readonly [string, string] => {
      const known = knownProperty(key, arbitrary);
      if (known === undefined) return [key, value];
      if (known.isInterval === true && !/^\s*(?:interval\s+)?(?:-?\d+\s+[a-z]+\s*)+$/i.test(value)) throw noInterval(value);
      if (!known.accepts(value)) throw badValue(known, value);
      return [known.key, value];
    }),
  );
}

/**
 * Versions whose removed files are kept must have their log.
 *
 * @throws AnalysisException `_LEGACY_ERROR_TEMP_2045` (alias `DELTA_PROPERTY_INVALID`) when removed files are kept for longer than the log.
 */
export function checkRetentions({ logRetentionMs, deletedFileRetentionMs }: DeltaProperties): void {
  if (logRetentionMs >= deletedFileRetentionMs) return;
  const [log, files] = [logRetentionMs, deletedFileRetentionMs].map((ms) => `${ms / 3_600_000} hours`);
  throw new AnalysisException({
    errorClass: '_LEGACY_ERROR_TEMP_2045',
    alias: 'DELTA_PROPERTY_INVALID',
    message: `Unsupported table change: requirement failed: The table property delta.logRetentionDuration(${log}) needs to be greater than or equal to delta.deletedFileRetentionDuration(${files})`,
    parameters: { key: 'delta.logRetentionDuration' },
    hint: 'set both properties in one statement',
  });
}

/** The spelling a key is stored in. @throws AnalysisException `DELTA_UNKNOWN_CONFIGURATION`. */
export function canonicalKey(key: string, arbitrary?: boolean): string {
  return knownProperty(key, arbitrary)?.key ?? key;
}

/** `undefined`: none of Delta's own. */
function knownProperty(key: string, arbitrary = false): KnownProperty | undefined {
  const lower = key.toLowerCase();
  if (!lower.startsWith('delta.')) return undefined;
  if (lower.startsWith(constraintPrefix)) throw constraintByProperty(key);
  const known = byLowerKey.get(lower);
  if (known !== undefined || arbitrary) return known;
  const nearest = nearestName(
    key,
    knownProperties.map((property) => property.key),
  );
  throw new AnalysisException({
    errorClass: 'DELTA_UNKNOWN_CONFIGURATION',
    message: `Unknown configuration was specified: ${key}`,
    parameters: { config: key },
    hint: nearest === undefined ? 'properties of your own must not begin with "delta."' : `did you mean "${nearest}"?`,
  });
}

function noInterval(value: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_INVALID_INTERVAL',
    message: `${value} is not a valid INTERVAL.`,
    parameters: { interval: value },
    hint: 'write a number and a unit, such as interval 7 days',
  });
}

function badValue(property: KnownProperty, value: string): AnalysisException {
  return new AnalysisException({
    errorClass: '_LEGACY_ERROR_TEMP_2045',
    alias: 'DELTA_PROPERTY_INVALID',
    message: `Unsupported table change: ${property.key} needs to be ${property.needs}, found "${value}"`,
    parameters: { key: property.key, value },
    hint: `set ${property.key} to a value it can have`,
  });
}

function constraintByProperty(key: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_ADD_CONSTRAINTS',
    message: `please use ALTER TABLE ADD CONSTRAINT to add CHECK constraints, not the property ${key}`,
    parameters: { config: key },
    hint: 'ALTER TABLE … ADD CONSTRAINT name CHECK (condition)',
  });
}
