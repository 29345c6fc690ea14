import { AnalysisException } from '../../base/analysis-exception.ts';
import { type JsonObject, printJson } from '../../base/bigint-json.ts';
import { isServiceError } from '../../base/errors.ts';
import type { Relation } from '../../table/relation.ts';
import type { WriteResult } from '../../table/row-operations.ts';
import type { CreateRequest } from '../../table/table-formats.ts';
import { beforeFirstVersion } from '../../table/version.ts';
import { type Action, type AddFile, physicalRows, removeOf } from '../actions.ts';
import { clusteringDomainName } from '../clustering.ts';
import { DeltaSnapshot } from '../delta-snapshot.ts';
import { checkRows } from '../files/checked-rows.ts';
import { discardStaged, stageRows } from '../files/stage-rows.ts';
import type { OperationContext } from '../operations/operation-context.ts';
import { sameProtocol } from '../protocol-for.ts';
import { type FirstActions, firstActions } from '../table-definition.ts';
import { checkRowsWritable } from '../table-features.ts';
import { commitTransaction } from '../transaction/commit-transaction.ts';
import { DeltaConcurrentModificationException } from '../transaction/concurrent-modification.ts';
import { isAlreadyWritten } from '../transaction/idempotency.ts';
import { optimizedFileBytes } from '../write/optimized-write.ts';
import { checkSameDefinition } from './same-definition.ts';

/** What came of a CREATE or REPLACE; the table is at the context's location now. */
export interface CreatedTable {
  /** False: a table was there and was left as it is. */
  readonly created: boolean;
  /** `undefined` without rows. */
  readonly written: WriteResult | undefined;
}

/**
 * CREATE TABLE, REPLACE TABLE, CREATE OR REPLACE TABLE, with or without rows (AS SELECT): one version. `existing` is the newest version of the
 * table at the location. Of several racing creators one wins.
 *
 * @throws AnalysisException `DELTA_PATH_EXISTS` (42K04), `DELTA_TABLE_ALREADY_EXISTS` (42P07), `TABLE_OR_VIEW_NOT_FOUND` (42P01), what
 * `firstActions`, `checkSameDefinition` and `checkRows` throw; the errors of `commitTransaction`.
 */
export async function createTable(
  context: OperationContext,
  existing: DeltaSnapshot | undefined,
  request: CreateRequest,
): Promise<CreatedTable> {
  if (existing === undefined && request.mode === 'replace') throw noTable(request.name, 'use CREATE OR REPLACE TABLE to create it');
  if (existing !== undefined && (request.mode === 'create' || request.mode === 'create-if-absent')) {
    if (request.mode === 'create' && (request.rows !== undefined || request.takeOver !== true)) throw alreadyThere(request);
    if (request.rows === undefined) checkSameDefinition(existing, { ...request, arbitraryProperties: context.arbitraryProperties?.() });
    return { created: false, written: undefined };
  }
  if (existing !== undefined && isAlreadyWritten(existing, request)) return { created: false, written: nothingWritten };
  try {
    return await makeTable(context, existing, request);
  } catch (error) {
    const lost = existing === undefined && error instanceof DeltaConcurrentModificationException;
    if (!lost || request.mode === 'create-or-replace') throw error;
    // Somebody else created it meanwhile: what a CREATE that came a moment later would say.
    return createTable(context, await context.refresh(request.signal), request);
  }
}

const nothingWritten: WriteResult = { version: undefined, rowCount: 0, fileCount: 0, sizeBytes: 0 };

async function makeTable(context: OperationContext, existing: DeltaSnapshot | undefined, request: CreateRequest): Promise<CreatedTable> {
  const { signal, rows, userMetadata, idempotency } = request;
  if (existing !== undefined) checkRowsWritable(existing.protocol, existing.metadata, context.name);
  const defined = firstActions(context.name, request.definition, {
    tableId: existing?.tableId ?? context.ids.uuid(),
    nowMs: context.clock.now(),
    ids: context.ids,
    description: request.comment,
    clusterBy: request.clusterBy,
    arbitraryProperties: context.arbitraryProperties?.(),
    replaced: existing,
  });
  const shape = DeltaSnapshot.replay(context.name, { version: existing?.version ?? beforeFirstVersion, modifiedMs: 0 }, [
    defined.protocol,
    defined.metadata,
    ...defined.domains,
  ]);
  const added = rows === undefined ? [] : await staged(context, shape, rows, request);
  const removed = existing === undefined ? [] : [...existing.files()];
  const deletedMs = Math.max(context.clock.now(), existing?.committedAt ?? 0);
  try {
    const version = await commitTransaction(context, {
      base: existing ?? shape,
      operation: operationOf(request, existing !== undefined),
      operationParameters: parametersOf(request, defined),
      operationMetrics: rows === undefined ? {} : metricsOf(added, existing === undefined ? undefined : removed),
      actions: [...definingActions(existing, defined), ...removed.map((file) => removeOf(file, { deletedMs, dataChange: true })), ...added],
      reads: existing === undefined ? {} : { wholeTable: true },
      userMetadata,
      idempotency,
      signal,
    });
    return { created: true, written: rows === undefined ? undefined : writtenOf(version, added) };
  } catch (error) {
    // After an unknown outcome the files may be part of the table.
    if (!isServiceError(error, 'unknown-outcome')) await discardStaged(context, added);
    throw error;
  }
}

async function staged(
  context: OperationContext,
  shape: DeltaSnapshot,
  rows: Relation,
  request: CreateRequest,
): Promise<readonly AddFile[]> {
  const { signal } = request;
  await checkRows({ ...context, zone: request.zone }, shape, rows, signal);
  return stageRows(context, shape, rows, { dataChange: true, targetFileBytes: optimizedFileBytes(shape, request), signal });
}

/** Protocol only when it changes; the domains of the old definition end with it. */
function definingActions(existing: DeltaSnapshot | undefined, defined: FirstActions): readonly Action[] {
  const protocol = existing !== undefined && sameProtocol(existing.protocol, defined.protocol) ? [] : [defined.protocol];
  const clustered = defined.domains.some((domain) => domain.domain === clusteringDomainName);
  const ended = [...(existing?.domains() ?? [])]
    .filter((domain) => domain.domain === clusteringDomainName && !clustered)
    .map((domain) => ({ ...domain, removed: true }));
  return [...protocol, defined.metadata, ...defined.domains, ...ended];
}

function operationOf(request: CreateRequest, replaces: boolean): string {
  if (request.savedAs !== undefined) return 'WRITE';
  const verb =
    request.mode === 'create-or-replace'
      ? 'CREATE OR REPLACE TABLE'
      : replaces || request.mode === 'replace'
        ? 'REPLACE TABLE'
        : 'CREATE TABLE';
  return request.rows === undefined ? verb : `${verb} AS SELECT`;
}

/** In the order and spelling other engines write them: JSON in text. */
function parametersOf(request: CreateRequest, defined: FirstActions): JsonObject {
  const partitionBy = printJson(defined.metadata.partitionColumns);
  if (request.savedAs !== undefined) return { mode: request.savedAs, partitionBy };
  return {
    partitionBy,
    clusterBy: printJson((request.clusterBy ?? []).map((path) => path.join('.'))),
    description: request.comment ?? null,
    isManaged: String(request.managed === true),
    properties: printJson(defined.metadata.configuration),
  };
}

function metricsOf(added: readonly AddFile[], removed: readonly AddFile[] | undefined): Readonly<Record<string, string>> {
  const { fileCount, rowCount, sizeBytes } = totalsOf(added);
  return {
    numFiles: String(fileCount),
    numOutputRows: String(rowCount),
    numOutputBytes: String(sizeBytes),
    ...(removed === undefined ? {} : { numRemovedFiles: String(removed.length), numRemovedBytes: String(totalsOf(removed).sizeBytes) }),
  };
}

function writtenOf(version: WriteResult['version'], added: readonly AddFile[]): WriteResult {
  return { version, ...totalsOf(added) };
}

function totalsOf(files: readonly AddFile[]): { readonly fileCount: number; readonly rowCount: number; readonly sizeBytes: number } {
  return {
    fileCount: files.length,
    rowCount: files.reduce((sum, file) => sum + (physicalRows(file.stats) ?? 0), 0),
    sizeBytes: files.reduce((sum, file) => sum + file.sizeBytes, 0),
  };
}

function alreadyThere(request: CreateRequest): AnalysisException {
  if (request.rows !== undefined) {
    return new AnalysisException({
      errorClass: 'DELTA_PATH_EXISTS',
      message: `Cannot write to already existent path ${request.location} without setting OVERWRITE = 'true'.`,
      parameters: { path: request.location },
      hint: 'choose another location, or the mode overwrite or append',
    });
  }
  return tableThere(request.name, 'use CREATE TABLE IF NOT EXISTS, or CREATE OR REPLACE TABLE');
}

export function tableThere(table: string, hint: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_TABLE_ALREADY_EXISTS',
    message: `Table ${table} already exists.`,
    parameters: { tableName: table },
    hint,
  });
}

/** The name as it is shown: parts of it may be in backticks already. */
export function noTable(table: string, hint: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'TABLE_OR_VIEW_NOT_FOUND',
    kind: 'not-found',
    message: `The table or view ${table} cannot be found. Verify the spelling and correctness of the schema and catalog.`,
    parameters: { relationName: table },
    hint,
  });
}
