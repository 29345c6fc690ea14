import type { AnalysisException } from '../../base/analysis-exception.ts';
import { unsupported } from '../../base/unsupported-feature.ts';

interface Settled {
  /** Values that mean what is done anyway. */
  readonly is: RegExp;
  /** What is done, or what to do instead, for the hint. */
  readonly cure: string;
}

const done = (is: RegExp, here: string): Settled => ({ is, cure: `this session always works as with "${here}"` });
const yes: Settled = done(/^true$/i, 'true');
const no: Settled = done(/^false$/i, 'false');
const newCalendar: Settled = done(/^(corrected|exception)$/i, 'CORRECTED');
const instead = (cure: string): Settled => ({ is: /^(false)?$/i, cure });
const tableCodec: Settled = instead("set the table's property write.parquet.compression-codec, write.avro.… or write.orc.…");

/** Settings on which results depend and of which one value is there: another one would be ignored without a word. */
const settled: Readonly<Record<string, Settled>> = {
  'spark.sql.allowNamedFunctionArguments': yes,
  'spark.sql.ansi.enabled': yes,
  'spark.sql.ansi.doubleQuotedIdentifiers': no,
  'spark.sql.ansi.enforceReservedKeywords': no,
  'spark.sql.ansi.relationPrecedence': no,
  'spark.sql.caseSensitive': no,
  'spark.sql.charAsVarchar': no,
  'spark.sql.columnNameOfCorruptRecord': done(/^_corrupt_record$/, '_corrupt_record'),
  'spark.sql.crossJoin.enabled': yes,
  'spark.sql.decimalOperations.allowPrecisionLoss': yes,
  'spark.sql.defaultColumn.enabled': yes,
  'spark.sql.files.ignoreCorruptFiles': no,
  'spark.sql.files.ignoreMissingFiles': no,
  'spark.sql.groupByOrdinal': yes,
  'spark.sql.groupByAliases': yes,
  'spark.sql.jsonGenerator.ignoreNullFields': yes,
  'spark.sql.orderByOrdinal': yes,
  'spark.sql.mapKeyDedupPolicy': done(/^exception$/i, 'EXCEPTION'),
  'spark.sql.parser.escapedStringLiterals': no,
  'spark.sql.parser.quotedRegexColumnNames': no,
  'spark.sql.parquet.binaryAsString': no,
  'spark.sql.parquet.int96AsTimestamp': yes,
  'spark.sql.parquet.mergeSchema': instead('give the reader the option mergeSchema'),
  'spark.sql.parquet.datetimeRebaseModeInRead': newCalendar,
  'spark.sql.parquet.datetimeRebaseModeInWrite': newCalendar,
  'spark.sql.parquet.int96RebaseModeInRead': newCalendar,
  'spark.sql.parquet.int96RebaseModeInWrite': newCalendar,
  'spark.sql.preserveCharVarcharTypeInfo': no,
  'spark.sql.readSideCharPadding': yes,
  'spark.sql.runSQLOnFiles': yes,
  'spark.sql.sources.partitionColumnTypeInference.enabled': yes,
  'spark.sql.storeAssignmentPolicy': done(/^ansi$/i, 'ANSI'),
  'spark.sql.timestampType': done(/^timestamp_ltz$/i, 'TIMESTAMP_LTZ'),
  'spark.sql.legacy.timeParserPolicy': newCalendar,
  'spark.databricks.delta.changeDataFeed.unsafeBatchReadOnIncompatibleSchemaChanges.enabled': no,
  'spark.databricks.delta.checkLatestSchemaOnRead': yes,
  'spark.databricks.delta.dynamicPartitionOverwrite.enabled': yes,
  'spark.databricks.delta.replaceWhere.dataColumns.enabled': yes,
  'spark.databricks.delta.stats.collect': yes,
  'spark.databricks.delta.vacuum.logging.enabled': yes,
  'spark.sql.iceberg.compression-codec': tableCodec,
  'spark.sql.iceberg.compression-level': tableCodec,
  'spark.sql.iceberg.compression-strategy': tableCodec,
  'spark.sql.iceberg.merge-schema': instead('give the write the option merge-schema, or write INSERT WITH SCHEMA EVOLUTION'),
};

/** Of these the whole family is refused, but for values that switch it off. */
const refusedFamilies: readonly { readonly prefix: string; readonly settled: Settled }[] = [
  {
    prefix: 'spark.delta.logStore.',
    settled: {
      is: /^(?!.*DynamoDB)/i,
      cure: 'commits here are files that are put when they are absent; writers that lock by DynamoDB would not see them, so let all write with conditional puts',
    },
  },
  { prefix: 'spark.io.delta.storage.', settled: { is: /(?!)/, cure: 'commits here are files that are put when they are absent' } },
  { prefix: 'spark.sql.legacy.', settled: { is: /^(?!true$)/i, cure: 'older behaviours of Spark are not there' } },
];

/** Older behaviours that are on in Spark by default, and of no consequence. */
const harmlessLegacy: ReadonlySet<string> = new Set(['spark.sql.legacy.setCommandRejectsSparkCoreConfs', 'spark.sql.legacy.sizeOfNull']);

/** Why a value cannot be had; `undefined` when it can. */
export function unlikeSettled(key: string, value: string): AnalysisException | undefined {
  const family = harmlessLegacy.has(key) ? undefined : refusedFamilies.find(({ prefix }) => key.startsWith(prefix));
  const found = settled[key] ?? family?.settled;
  return found === undefined || found.is.test(value.trim()) ? undefined : unsupported(`the value "${value}" of "${key}"`, found.cure);
}

/** Keys of which one value is there, for the reference. */
export const settledKeys: readonly { readonly key: string; readonly cure: string }[] = [
  ...Object.entries(settled).map(([key, { cure }]) => ({ key, cure })),
  ...refusedFamilies.map(({ prefix, settled: { cure } }) => ({ key: `${prefix}…`, cure })),
];
