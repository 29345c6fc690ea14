import { isJsonObject, parseJson } from '../../base/bigint-json.ts';
import { maskInResults, shownEntries } from '../../base/redaction.ts';
import type { DataType, Field } from '../../schema/types.ts';
import type { HistoryEntry, QueryableTable } from '../../table/table.ts';
import type { RowInput } from '../rows/row.ts';
import { type CommandResult, resultSchema, textList, textMap } from './command-result.ts';
import { locationText } from './optimize-command.ts';

const jobMembers = ['jobId', 'jobName', 'jobRunId', 'runId', 'jobOwnerId', 'triggerType'] as const;

/** Columns of DESCRIBE HISTORY. */
export const historySchema: CommandResult['schema'] = resultSchema({
  version: 'long',
  timestamp: 'timestamp',
  userId: 'string',
  userName: 'string',
  operation: 'string',
  operationParameters: textMap,
  job: textStruct(jobMembers),
  notebook: textStruct(['notebookId']),
  clusterId: 'string',
  readVersion: 'long',
  isolationLevel: 'string',
  isBlindAppend: 'boolean',
  operationMetrics: textMap,
  userMetadata: 'string',
  engineInfo: 'string',
});

/** Columns of DESCRIBE DETAIL. */
export const detailSchema: CommandResult['schema'] = resultSchema({
  format: 'string',
  id: 'string',
  name: 'string',
  description: 'string',
  location: 'string',
  createdAt: 'timestamp',
  lastModified: 'timestamp',
  partitionColumns: textList,
  clusteringColumns: textList,
  numFiles: 'long',
  sizeInBytes: 'long',
  properties: textMap,
  minReaderVersion: 'integer',
  minWriterVersion: 'integer',
  tableFeatures: textList,
});

/** The versions of a table, newest first. */
export async function historyRows(table: QueryableTable, limit: number | undefined, signal?: AbortSignal): Promise<readonly RowInput[]> {
  const entries = await table.history({ limit }, signal);
  return entries.map(historyRow);
}

/** One row about the table as it is. @param catalogName of a table in a catalog; one at a path has the name its metadata gives it. */
export async function detailRows(
  table: QueryableTable,
  catalogName: string | undefined,
  signal?: AbortSignal,
): Promise<readonly RowInput[]> {
  const detail = await table.detail(signal);
  const row = {
    format: detail.format,
    id: detail.id,
    name: catalogName ?? detail.name,
    description: detail.description,
    location: locationText(detail.location),
    createdAt: detail.createdAtMs === undefined ? undefined : new Date(detail.createdAtMs),
    lastModified: new Date(detail.lastModifiedMs),
    partitionColumns: detail.partitionColumns,
    clusteringColumns: detail.clusteringColumns,
    numFiles: detail.numFiles,
    sizeInBytes: detail.sizeInBytes,
    properties: new Map(Object.entries(shownEntries(detail.properties, maskInResults))),
    minReaderVersion: detail.minReaderVersion,
    minWriterVersion: detail.minWriterVersion,
    tableFeatures: detail.tableFeatures,
  };
  return [row];
}

function historyRow(entry: HistoryEntry): RowInput {
  return {
    version: entry.version,
    timestamp: new Date(entry.committedAt),
    userId: entry.userId,
    userName: entry.userName,
    operation: entry.operation,
    operationParameters: new Map(Object.entries(shownEntries(entry.operationParameters, maskInResults))),
    job: textMembers(entry.job, jobMembers),
    notebook: textMembers(entry.notebook, ['notebookId']),
    clusterId: entry.clusterId,
    readVersion: entry.readVersion,
    isolationLevel: entry.isolationLevel,
    isBlindAppend: entry.isBlindAppend,
    operationMetrics: new Map(Object.entries(entry.operationMetrics)),
    userMetadata: entry.userMetadata,
    engineInfo: entry.engineInfo,
  };
}

function textMembers(json: string | undefined, names: readonly string[]): RowInput | undefined {
  const value = json === undefined ? undefined : parseJson(json, 'history');
  if (!isJsonObject(value)) return undefined;
  return Object.fromEntries(
    names.map((name) => {
      const member = value[name];
      return [name, typeof member === 'string' ? member : undefined];
    }),
  );
}

function textStruct(names: readonly string[]): DataType {
  return { kind: 'struct', fields: names.map((name): Field => ({ name, type: { kind: 'string' }, nullable: true })) };
}
