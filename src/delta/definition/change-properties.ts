import { AnalysisException } from '../../base/analysis-exception.ts';
import { printJson } from '../../base/bigint-json.ts';
import type { IdSource } from '../../base/ids.ts';
import { hasColumn } from '../../schema/column-path.ts';
import { describeType } from '../../schema/describe-type.ts';
import { type AddFile, physicalRows } from '../actions.ts';
import { assignMapping } from '../column-mapping/assign-mapping.ts';
import { mappingKeys } from '../column-mapping/physical-schema.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import { statisticsPath } from '../files/statistics-rule.ts';
import type { OperationContext } from '../operations/operation-context.ts';
import { deltaProperties } from '../properties.ts';
import { canonicalKey, canonicalProperties, checkRetentions } from '../property-catalogue.ts';
import { type ProtocolSettings, supportsFeature, takeProtocolSettings } from '../protocol-for.ts';
import { rowTrackingColumns } from '../table-definition.ts';
import { raised } from './change-protocol.ts';
import { checkFeedColumns } from './check-schema.ts';
import type { PlannedChange } from './planned-change.ts';

/** Properties that the table keeps for itself. */
const reserved: ReadonlySet<string> = new Set([
  mappingKeys.maxColumnId,
  'delta.rowTracking.materializedRowIdColumnName',
  'delta.rowTracking.materializedRowCommitVersionColumnName',
  'delta.inCommitTimestampEnablementVersion',
  'delta.inCommitTimestampEnablementTimestamp',
]);
/** Files one commit gives row ids at most. */
const maxBackfilledFiles = 100_000;

/**
 * SET TBLPROPERTIES: stores them, and does what they switch on: column ids and names, row ids for files that are there, the protocol.
 *
 * @throws AnalysisException what `canonicalProperties` and `takeProtocolSettings` throw; `DELTA_CANNOT_MODIFY_TABLE_PROPERTY` (42939),
 * `DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE` (0AKDC), `DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS`,
 * `DELTA_ROW_ID_ASSIGNMENT_WITHOUT_STATS`.
 */
export function setProperties(
  snapshot: DeltaSnapshot,
  properties: Readonly<Record<string, string>>,
  context: Pick<OperationContext, 'name' | 'ids' | 'arbitraryProperties'>,
): PlannedChange {
  const { comment, ...others } = properties;
  const settings = takeProtocolSettings(others);
  const given = canonicalProperties(settings.rest, context.arbitraryProperties?.());
  for (const key of Object.keys(given)) if (reserved.has(key) && given[key] !== snapshot.properties[key]) throw ownProperty(key);
  const merged = { ...snapshot.properties, ...given };
  const after = deltaProperties(merged, context.name);
  if (Object.keys(given).some((key) => /^delta\.(log|deletedFile)RetentionDuration$/.test(key))) checkRetentions(after);
  if (given['delta.dataSkippingStatsColumns'] !== undefined) checkStatsColumns(after.statisticsColumnNames ?? [], snapshot);
  if (after.changeDataFeed && !snapshot.settings.changeDataFeed) checkFeedColumns(snapshot.schema);
  const mapping = mappingChange(snapshot, merged, context.ids);
  const tracked = after.rowTracking ? rowTrackingColumns(merged, {}, context.ids) : {};
  const actions = after.rowTracking && !snapshot.settings.rowTracking ? filesWithoutRowIds(snapshot, context.name) : [];
  return {
    operation: 'SET TBLPROPERTIES',
    operationParameters: {
      properties: printJson({ ...askedFor(others, settings), ...given, ...(comment === undefined ? {} : { comment }) }),
    },
    schema: mapping?.schema,
    configuration: { ...merged, ...mapping?.configuration, ...tracked },
    description: comment === undefined ? undefined : { text: comment },
    alwaysMetadata: true,
    features: settings.features,
    ...raised(snapshot.protocol, settings),
    actions,
    reads: actions.length > 0 ? { wholeTable: true } : {},
  };
}

/**
 * UNSET TBLPROPERTIES. A property that is not there is passed over with IF EXISTS and without it, as Spark does.
 *
 * @throws AnalysisException `DELTA_CANNOT_MODIFY_TABLE_PROPERTY`,
 * `DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE`.
 */
export function unsetProperties(
  snapshot: DeltaSnapshot,
  change: { readonly keys: readonly string[] },
  { arbitraryProperties }: Pick<OperationContext, 'arbitraryProperties'>,
): PlannedChange {
  const keys = change.keys.map((key) =>
    snapshot.properties[key] === undefined && key !== 'comment' ? canonicalKey(key, arbitraryProperties?.()) : key,
  );
  for (const key of keys) {
    if (reserved.has(key)) throw ownProperty(key);
    if (key === mappingKeys.mode && snapshot.mapping !== 'none') throw modeChange(snapshot.mapping, 'none');
  }
  return {
    operation: 'UNSET TBLPROPERTIES',
    operationParameters: { properties: printJson(keys), ifExists: true },
    configuration: Object.fromEntries(Object.entries(snapshot.properties).filter(([key]) => !keys.includes(key))),
    description: keys.includes('comment') ? { text: undefined } : undefined,
    alwaysMetadata: true,
  };
}

/** The protocol settings as they were given, for the history. */
function askedFor(others: Readonly<Record<string, string>>, settings: ProtocolSettings): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(others).filter(([key]) => !(key in settings.rest)));
}

/** Column ids and names for a table that gets them; names are those the files have. */
function mappingChange(
  snapshot: DeltaSnapshot,
  merged: Readonly<Record<string, string>>,
  ids: IdSource,
): Pick<PlannedChange, 'schema' | 'configuration'> | undefined {
  const mode = merged[mappingKeys.mode]?.toLowerCase() ?? 'none';
  if (mode === snapshot.mapping) return undefined;
  if (snapshot.mapping !== 'none' || mode !== 'name') throw modeChange(snapshot.mapping, mode);
  const maxColumnId = Number(merged[mappingKeys.maxColumnId] ?? 0);
  const assigned = assignMapping(snapshot.schema, { maxColumnId, ids, names: 'present' });
  return { schema: assigned.schema, configuration: { [mappingKeys.mode]: mode, [mappingKeys.maxColumnId]: String(assigned.maxColumnId) } };
}

/** Files that must be committed again to get row ids. */
function filesWithoutRowIds(snapshot: DeltaSnapshot, table: string): readonly AddFile[] {
  const supported = supportsFeature(snapshot.protocol, 'rowTracking');
  const files = [...snapshot.files()]
    .filter((file) => !supported || file.baseRowId === undefined)
    .map((file): AddFile => ({ ...file, dataChange: false }));
  const uncounted = files.find((file) => physicalRows(file.stats) === undefined);
  if (uncounted !== undefined) throw cannotTrack(table, `the number of rows in file "${uncounted.storedPath}" is not known`);
  if (files.length > maxBackfilledFiles) throw cannotTrack(table, `it has ${files.length} files, more than ${maxBackfilledFiles}`);
  return files;
}

function cannotTrack(table: string, why: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_ROW_ID_ASSIGNMENT_WITHOUT_STATS',
    kind: 'unsupported',
    message: `Cannot enable row tracking on table ${table}: ${why}.`,
    parameters: { tableName: table },
    hint: 'run OPTIMIZE, which writes fewer files with statistics, and try again',
  });
}

function modeChange(from: string, to: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE',
    kind: 'unsupported',
    message: `Changing column mapping mode from '${from}' to '${to}' is not supported.`,
    parameters: { oldMode: from, newMode: to },
    hint: "a table with files can change from 'none' to 'name' only",
  });
}

function ownProperty(key: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_CANNOT_MODIFY_TABLE_PROPERTY',
    message: `The Delta table configuration ${key} cannot be specified by the user`,
    parameters: { prop: key },
    hint: 'the table keeps it itself',
  });
}

/** @throws AnalysisException `DELTA_COLUMN_NOT_FOUND_IN_SCHEMA` (42703). */
function checkStatsColumns(names: readonly string[], { schema }: DeltaSnapshot): void {
  const columnName = names.find((name) => !hasColumn(schema, statisticsPath(name)));
  if (columnName === undefined) return;
  throw new AnalysisException({
    errorClass: 'DELTA_COLUMN_NOT_FOUND_IN_SCHEMA',
    message: `Couldn't find column ${columnName} in: ${describeType(schema)}`,
    hint: 'statistics are kept of columns and members of structs',
    parameters: { columnName, tableSchema: describeType(schema) },
  });
}
