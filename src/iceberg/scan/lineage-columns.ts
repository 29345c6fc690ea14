import type { RowTrackingColumns } from '../../table/scan.ts';
import { rowLineageIds, rowLineageNames } from '../metadata/reserved-ids.ts';

/** Where files keep what belongs to a row wherever it is moved (https://iceberg.apache.org/spec/#row-lineage). */
export const lineageColumns: RowTrackingColumns = {
  rowId: rowLineageNames.rowId,
  commitVersion: rowLineageNames.lastUpdatedSequenceNumber,
  fieldIds: { rowId: rowLineageIds.rowId, commitVersion: rowLineageIds.lastUpdatedSequenceNumber },
};
