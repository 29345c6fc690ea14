import { AnalysisException } from '../../base/analysis-exception.ts';
import type { JsonObject } from '../../base/bigint-json.ts';
import type { QueryableTable } from '../../table/table.ts';
import type { CloneRequest } from '../../table/table-formats.ts';
import { beforeFirstVersion } from '../../table/version.ts';
import { type Action, type AddFile, type DeletionVector, type MetadataAction } from '../actions.ts';
import { deletionVectorPath } from '../deletion-vectors/deletion-vector-path.ts';
import { asDeltaSnapshot, DeltaSnapshot } from '../delta-snapshot.ts';
import type { OperationContext } from '../operations/operation-context.ts';
import { decodePath, encodePath } from '../paths.ts';
import { protocolFor, sameProtocol, supportedFeatures } from '../protocol-for.ts';
import { checkRowsWritable } from '../table-features.ts';
import { commitTransaction } from '../transaction/commit-transaction.ts';
import { noTable, tableThere } from './create-table.ts';

/** Domains that belong to the rows and their definition, and so go with them. */
const clonedDomains: ReadonlySet<string> = new Set(['delta.clustering', 'delta.rowTracking']);

/** A source of a clone that can tell where its files lie. */
interface RootedTable extends QueryableTable {
  readonly context: OperationContext;
}

/**
 * Makes the table at the context's location a shallow clone: the source's definition and an `add` for each of its files by its absolute place.
 * No data is copied, and what is written later lies in the clone. Vacuum of the source takes files from under the clone once the source does
 * not need them any more. `existing` is the newest version of the table at the location, which must be empty. False: one is there and was left
 * as it is.
 *
 * @throws AnalysisException `DELTA_TABLE_ALREADY_EXISTS` (42P07), `TABLE_OR_VIEW_NOT_FOUND` (42P01),
 * `DELTA_CLONE_UNSUPPORTED_SOURCE`, `DELTA_UNSUPPORTED_CLONE_REPLACE_SAME_TABLE`, `DELTA_UNSUPPORTED_NON_EMPTY_CLONE` (0AKDC), `ENGINE_NEEDS_LOCAL_FILES`; the errors of
 * `commitTransaction`.
 */
export async function cloneTable(context: OperationContext, existing: DeltaSnapshot | undefined, request: CloneRequest): Promise<boolean> {
  const { signal, mode } = request;
  const source = rooted(request.source);
  // What others can open by its name from where the clone lies: objects from everywhere, local files from beside them.
  if (!source.context.place.root.startsWith('s3://')) for (const side of [context, source.context]) side.localRoot();
  if (existing !== undefined && mode === 'create-if-absent') return false;
  if (existing !== undefined && mode === 'create')
    throw tableThere(request.target.name, 'use CREATE TABLE IF NOT EXISTS … SHALLOW CLONE, or CREATE OR REPLACE TABLE … SHALLOW CLONE');
  if (existing === undefined && mode === 'replace')
    throw noTable(request.target.name, 'use CREATE OR REPLACE TABLE … SHALLOW CLONE to create it');
  const root = source.context.store.root.replace(/\/$/, '');
  if (root === context.store.root.replace(/\/$/, '')) throw sameTable(request.target.name);
  if (existing !== undefined && existing.fileCount > 0) throw notEmpty(request.target.name);
  const from = asDeltaSnapshot(
    request.version === undefined ? await request.source.refresh(signal) : await request.source.snapshotAt(request.version, signal),
  );
  checkRowsWritable(from.protocol, from.metadata, source.name);
  await commitClone(context, existing, { request, from, root });
  return true;
}

async function commitClone(
  context: OperationContext,
  existing: DeltaSnapshot | undefined,
  clone: { readonly request: CloneRequest; readonly from: DeltaSnapshot; readonly root: string },
): Promise<void> {
  const { request, from, root } = clone;
  const files = [...from.files()].map((file) => absolute(file, { root, targetRoot: context.store.root }));
  const { protocol, metadata } = definitionOf(context, existing, clone);
  const shape = DeltaSnapshot.replay(context.name, { version: beforeFirstVersion, modifiedMs: 0 }, [protocol, metadata]);
  const actions: readonly Action[] = [
    ...(existing !== undefined && sameProtocol(existing.protocol, protocol) ? [] : [protocol]),
    metadata,
    ...domainsOf(existing, from),
    ...files,
  ];
  await commitTransaction(context, {
    base: existing ?? shape,
    operation: 'CLONE',
    operationParameters: parametersOf(root, from),
    operationMetrics: {
      sourceTableSize: String(from.sizeBytes),
      sourceNumOfFiles: String(from.fileCount),
      numRemovedFiles: '0',
      removedFilesSize: '0',
      numCopiedFiles: '0',
      copiedFilesSize: '0',
    },
    actions,
    reads: existing === undefined ? {} : { wholeTable: true },
    autoCompact: { enabled: false },
    userMetadata: request.userMetadata,
    idempotency: request.idempotency,
    signal: request.signal,
  });
}

function definitionOf(
  context: OperationContext,
  existing: DeltaSnapshot | undefined,
  clone: { readonly request: CloneRequest; readonly from: DeltaSnapshot },
): { readonly protocol: ReturnType<typeof protocolFor>; readonly metadata: MetadataAction } {
  const { request, from } = clone;
  const configuration = { ...from.metadata.configuration, ...request.properties };
  const metadata: MetadataAction = {
    ...from.metadata,
    id: existing?.tableId ?? context.ids.uuid(),
    name: existing?.metadata.name,
    configuration,
    createdTimeMs: existing?.metadata.createdTimeMs ?? context.clock.now(),
  };
  const clustered = [...from.domains()].some(({ domain }) => domain === 'delta.clustering');
  const use = { schema: from.schema, configuration, clustered };
  if (existing !== undefined) {
    return { protocol: protocolFor({ ...use, current: existing.protocol, features: supportedFeatures(from.protocol) }), metadata };
  }
  // The same protocol as the source's, unless further properties ask for more.
  return { protocol: protocolFor({ ...use, current: from.protocol }), metadata };
}

function domainsOf(existing: DeltaSnapshot | undefined, from: DeltaSnapshot): readonly Action[] {
  const cloned = [...from.domains()].filter(({ domain }) => clonedDomains.has(domain));
  const ended = [...(existing?.domains() ?? [])]
    .filter(({ domain }) => clonedDomains.has(domain) && !cloned.some((other) => other.domain === domain))
    .map((domain) => ({ ...domain, removed: true }));
  return [...cloned, ...ended];
}

function parametersOf(root: string, from: DeltaSnapshot): JsonObject {
  return { source: `delta.\`${root}\``, sourceVersion: from.version };
}

/** The file by its absolute place; one that was given absolutely already keeps it. */
function absolute(file: AddFile, where: { readonly root: string; readonly targetRoot: string }): AddFile {
  const path = isAbsolute(file.path) ? file.path : `${where.root}/${file.path}`;
  return {
    ...file,
    path,
    storedPath: decodePath(path, where.targetRoot),
    dataChange: true,
    deletionVector: file.deletionVector === undefined ? undefined : absoluteVector(file.deletionVector, where.root),
  };
}

function absoluteVector(vector: DeletionVector, root: string): DeletionVector {
  const path = deletionVectorPath(vector);
  return path === undefined ? vector : { ...vector, storageType: 'p', pathOrInlineDv: `${root}/${encodePath(path)}` };
}

function isAbsolute(path: string): boolean {
  return /^([a-z][a-z0-9+.-]*:|\/)/i.test(path);
}

function rooted(source: QueryableTable): RootedTable {
  if (source.format === 'delta' && isRooted(source)) return source;
  throw new AnalysisException({
    errorClass: 'DELTA_CLONE_UNSUPPORTED_SOURCE',
    kind: 'unsupported',
    message: `Unsupported clone source '${source.name}', whose format is ${source.format}.\nThe supported formats are 'delta'.`,
    parameters: { name: source.name, format: source.format },
    hint: 'create the table with CREATE TABLE … AS SELECT instead',
  });
}

export function isRooted(source: QueryableTable): source is RootedTable {
  return 'context' in source;
}

function sameTable(table: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_UNSUPPORTED_CLONE_REPLACE_SAME_TABLE',
    message: `You tried to REPLACE an existing table (${table}) with CLONE. This operation is\nunsupported. Try a different target for CLONE or delete the table at the current target.`,
    parameters: { tableName: table },
    hint: 'to go back to an older version of the same table, use RESTORE',
  });
}

function notEmpty(table: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_UNSUPPORTED_NON_EMPTY_CLONE',
    message: 'The clone destination table is non-empty. Please TRUNCATE or DELETE FROM the table before running CLONE.',
    context: { table },
  });
}
