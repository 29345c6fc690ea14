import type { MetadataTable } from '../../table/queries.ts';
import { tableNotFound } from '../../table/table-names.ts';
import type { ScanSource } from '../scan/file-scan.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import { entriesTable, filesTable } from './files-tables.ts';
import { allManifestsTable, manifestsTable } from './manifests-table.ts';
import { type MetadataRows, metadataTableOf } from './metadata-rows.ts';
import { partitionsTable } from './partitions-table.ts';
import { positionDeletesTable } from './position-deletes-table.ts';
import { historyTable, metadataLogTable, refsTable, snapshotsTable } from './snapshot-tables.ts';

type MakeRows = (source: ScanSource, state: SnapshotState) => MetadataRows;

const tables: Readonly<Record<string, MakeRows>> = {
  snapshots: (_, { metadata }) => snapshotsTable(metadata),
  history: (_, { metadata }) => historyTable(metadata),
  refs: (_, { metadata }) => refsTable(metadata),
  metadata_log_entries: (_, { loaded }) => metadataLogTable(loaded),
  files: (source, state) => filesTable(source, state, { content: 'all', everySnapshot: false }),
  data_files: (source, state) => filesTable(source, state, { content: 'data', everySnapshot: false }),
  delete_files: (source, state) => filesTable(source, state, { content: 'deletes', everySnapshot: false }),
  entries: (source, state) => entriesTable(source, state, { everySnapshot: false }),
  manifests: manifestsTable,
  partitions: partitionsTable,
  position_deletes: positionDeletesTable,
  all_files: (source, state) => filesTable(source, state, { content: 'all', everySnapshot: true }),
  all_data_files: (source, state) => filesTable(source, state, { content: 'data', everySnapshot: true }),
  all_delete_files: (source, state) => filesTable(source, state, { content: 'deletes', everySnapshot: true }),
  all_entries: (source, state) => entriesTable(source, state, { everySnapshot: true }),
  all_manifests: allManifestsTable,
};

export const metadataTableNames: readonly string[] = Object.keys(tables);

/**
 * A table about a table, made from a state of it (https://iceberg.apache.org/docs/latest/spark-queries/#inspecting-tables).
 *
 * @throws AnalysisException `TABLE_OR_VIEW_NOT_FOUND` for a name that is none.
 */
export function metadataTable(source: ScanSource, state: SnapshotState, name: string): MetadataTable {
  const make = Object.hasOwn(tables, name.toLowerCase()) ? tables[name.toLowerCase()] : undefined;
  if (make === undefined) throw tableNotFound([source.name, name], `it has: ${metadataTableNames.join(', ')}`);
  return metadataTableOf(make(source, state));
}
