import type { AnalysisException } from '../../base/analysis-exception.ts';
import { unsupported } from '../session-errors.ts';

interface Settled {
  /** Values that mean what is done anyway. */
  readonly is: RegExp;
  /** What is done, for the hint. */
  readonly here: string;
}

const yes = /^true$/i;
const no = /^false$/i;
const newCalendar = /^(corrected|exception)$/i;

/** Settings of Spark on which results depend and of which one value is there: another one would be ignored without a word. */
const settled: ReadonlyMap<string, Settled> = new Map([
  ['spark.sql.session.timeZone', { is: /^((etc\/)?(utc|uct|gmt0?|zulu|universal)|utc?[+-]0?0(:00)?|[+-]00?(:00)?|z)$/i, here: 'UTC' }],
  ['spark.sql.ansi.enabled', { is: yes, here: 'true' }],
  ['spark.sql.ansi.doubleQuotedIdentifiers', { is: no, here: 'false' }],
  ['spark.sql.ansi.enforceReservedKeywords', { is: no, here: 'false' }],
  ['spark.sql.caseSensitive', { is: no, here: 'false' }],
  ['spark.sql.decimalOperations.allowPrecisionLoss', { is: yes, here: 'true' }],
  ['spark.sql.groupByOrdinal', { is: yes, here: 'true' }],
  ['spark.sql.groupByAliases', { is: yes, here: 'true' }],
  ['spark.sql.orderByOrdinal', { is: yes, here: 'true' }],
  ['spark.sql.mapKeyDedupPolicy', { is: /^exception$/i, here: 'EXCEPTION' }],
  ['spark.sql.parser.escapedStringLiterals', { is: no, here: 'false' }],
  ['spark.sql.storeAssignmentPolicy', { is: /^ansi$/i, here: 'ANSI' }],
  ['spark.sql.timestampType', { is: /^timestamp_ltz$/i, here: 'TIMESTAMP_LTZ' }],
  ['spark.sql.legacy.timeParserPolicy', { is: newCalendar, here: 'CORRECTED' }],
  ['spark.sql.parquet.datetimeRebaseModeInRead', { is: newCalendar, here: 'CORRECTED' }],
  ['spark.sql.parquet.datetimeRebaseModeInWrite', { is: newCalendar, here: 'CORRECTED' }],
  ['spark.sql.parquet.int96RebaseModeInRead', { is: newCalendar, here: 'CORRECTED' }],
  ['spark.sql.parquet.int96RebaseModeInWrite', { is: newCalendar, here: 'CORRECTED' }],
]);

/** Why a value cannot be had; `undefined` when it can. */
export function unlikeSettled(key: string, value: string): AnalysisException | undefined {
  const found = settled.get(key);
  return found === undefined || found.is.test(value.trim())
    ? undefined
    : unsupported(`the value "${value}" of "${key}"`, `this session always works as with "${found.here}"`);
}
