import { AnalysisException } from '../base/analysis-exception.ts';
import type { RowTrackingColumns } from '../table/scan.ts';
import type { DeltaSnapshot } from './delta-snapshot.ts';

/** Properties that name the columns of `RowTrackingColumns`; once given, the names stay. */
export const rowTrackingKeys = {
  rowId: 'delta.rowTracking.materializedRowIdColumnName',
  commitVersion: 'delta.rowTracking.materializedRowCommitVersionColumnName',
} as const;

/** Where files keep the ids of moved rows; `undefined` when the table does not promise to keep them, or does not say where. */
export function rowTrackingColumnsOf(snapshot: DeltaSnapshot): RowTrackingColumns | undefined {
  if (!tracksRows(snapshot)) return undefined;
  const { configuration } = snapshot.metadata;
  const [rowId, commitVersion] = [configuration[rowTrackingKeys.rowId], configuration[rowTrackingKeys.commitVersion]];
  return rowId === undefined || commitVersion === undefined ? undefined : { rowId, commitVersion };
}

/**
 * The columns that rows take along when they are written into other files.
 *
 * @throws AnalysisException `DELTA_MATERIALIZED_ROW_TRACKING_COLUMN_NAME_MISSING` (22000) when the table promises to keep row ids and does not
 * say where.
 */
export function movedRowColumns(snapshot: DeltaSnapshot, table: string): RowTrackingColumns | undefined {
  const columns = rowTrackingColumnsOf(snapshot);
  if (columns === undefined && tracksRows(snapshot)) throw nameMissing(table);
  return columns;
}

function tracksRows(snapshot: DeltaSnapshot): boolean {
  return snapshot.settings.rowTracking && snapshot.protocol.writerFeatures?.includes('rowTracking') === true;
}

function nameMissing(table: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_MATERIALIZED_ROW_TRACKING_COLUMN_NAME_MISSING',
    message: `Materialized Row ID or Row Commit Version column name missing for ${table}.`,
    parameters: { tableName: table },
    hint: `the log lacks ${rowTrackingKeys.rowId} or ${rowTrackingKeys.commitVersion}; set delta.enableRowTracking to false and to true again`,
  });
}
