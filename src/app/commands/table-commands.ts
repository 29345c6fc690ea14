import { toEpochMs } from '../../base/clock.ts';
import { isServiceError } from '../../base/errors.ts';
import { shownEntries, withoutSecrets } from '../../base/redaction.ts';
import { parseAccounting } from '../../protocol/commit-accounting.ts';
import { describeType } from '../../schema/describe-type.ts';
import type { Snapshot, Table } from '../../table/table.ts';
import type { HistoryRow, TableDescription, TableSummary } from '../app-commands.ts';
import type { Components } from '../components.ts';

/** Every table of the pipeline, existing or not. */
export function listTables(components: Components): Promise<readonly TableSummary[]> {
  return Promise.all(
    components.tables.all.map(async ({ name, format, location }) => {
      const table = await existing(components, name);
      const snapshot = await table?.refresh();
      return { name, format, location: withoutSecrets(location), ...numbersOf(snapshot) };
    }),
  );
}

export async function describeTable(components: Components, name: string): Promise<TableDescription> {
  const table = await components.catalog.load(name);
  const snapshot = await table.refresh();
  const health = await table.health({ compaction: components.config.maintenance.compaction });
  return {
    name,
    format: table.format,
    location: withoutSecrets(table.location),
    ...numbersOf(snapshot),
    tableId: snapshot.tableId,
    columns: snapshot.schema.fields.map((field) => ({
      name: field.name,
      type: describeType(field.type),
      nullable: field.nullable,
      partition: snapshot.partitionColumns.includes(field.name),
    })),
    properties: shownEntries(snapshot.properties),
    smallFileCount: health.smallFileCount,
    tombstoneCount: health.tombstoneCount,
    versionsSinceCheckpoint: health.versionsSinceCheckpoint,
    progress: [...snapshot.progressStartingWith('')].map(([writerId, value]) => ({ writerId, value })),
  };
}

export async function tableHistory(components: Components, name: string, limit: number): Promise<readonly HistoryRow[]> {
  const table = await components.catalog.load(name);
  const entries = await table.history({ limit });
  return entries
    .map((entry) => ({ entry, accounting: parseAccounting(entry.userMetadata) }))
    .map(({ entry, accounting }) => ({
      version: entry.version,
      committedAt: entry.committedAt,
      operation: entry.operation,
      addedRows: entry.addedRows,
      addedFiles: entry.addedFiles,
      removedFiles: entry.removedFiles,
      dataChange: entry.dataChange,
      engineInfo: entry.engineInfo,
      validThrough: accounting?.validThrough === undefined ? undefined : toEpochMs(accounting.validThrough),
      sources: (accounting?.ranges ?? []).map(({ topic, partition, from, until }) => `${topic}/${partition} [${from}, ${until})`),
    }));
}

function numbersOf(snapshot: Snapshot | undefined): Pick<TableSummary, 'version' | 'rowCount' | 'fileCount' | 'sizeBytes' | 'committedAt'> {
  return {
    version: snapshot?.version,
    rowCount: snapshot?.rowCount,
    fileCount: snapshot?.fileCount,
    sizeBytes: snapshot?.sizeBytes,
    committedAt: snapshot?.committedAt,
  };
}

async function existing(components: Components, name: string): Promise<Table | undefined> {
  try {
    return await components.catalog.load(name);
  } catch (error) {
    if (isServiceError(error, 'not-found')) return undefined;
    throw error;
  }
}
