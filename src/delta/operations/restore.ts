import { AnalysisException } from '../../base/analysis-exception.ts';
import { isServiceError } from '../../base/errors.ts';
import { mapBounded } from '../../base/map-bounded.ts';
import type { RestoreOptions, RestoreResult } from '../../table/row-operations.ts';
import { toVersion, type Version } from '../../table/version.ts';
import { type Action, type AddFile, fileKey, removeOf } from '../actions.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import { listLog } from '../log/log-listing.ts';
import { sameProtocol } from '../protocol-for.ts';
import { checkRowsWritable } from '../table-features.ts';
import { commitTransaction } from '../transaction/commit-transaction.ts';
import type { OperationContext } from './operation-context.ts';
import { totalBytes } from './optimize/rewrite-metrics.ts';
import { restoredDomains, restoredMetadata, restoredProtocol } from './restored-definition.ts';

const headConcurrency = 16;
const maxNamedFiles = 100;

/**
 * Makes a version that has the rows, schema and properties of an older one; none when that is the newest. Features the table has got since are kept: a protocol is
 * never weakened, and nothing that counts up (row ids, column ids, identity columns) is turned back.
 *
 * @throws AnalysisException `DELTA_CANNOT_RESTORE_TABLE_VERSION` (22003), `DELTA_RESTORE_MISSING_FILES` when data files of the version are gone
 * (unless `ignoreMissingFiles`), `DELTA_CANNOT_MODIFY_APPEND_ONLY`, and what `commitTransaction` throws.
 */
export async function restore(
  context: OperationContext,
  to: { readonly version: Version; readonly timestamp?: string | undefined },
  options: RestoreOptions = {},
): Promise<RestoreResult> {
  const { signal } = options;
  const base = await context.refresh(signal);
  checkRowsWritable(base.protocol, base.metadata, context.name);
  const target = await snapshotToRestore(context, base, to.version, signal);
  const live = keyed(base);
  const wanted = keyed(target);
  const restored = [...wanted].flatMap(([key, file]) => (live.has(key) ? [] : [file]));
  const removed = [...live].flatMap(([key, file]) => (wanted.has(key) ? [] : [file]));
  if (options.ignoreMissingFiles !== true) await refuseMissingFiles(context, restored, to.version, signal);
  const result = {
    tableSizeAfterRestore: target.sizeBytes,
    numOfFilesAfterRestore: target.fileCount,
    numRemovedFiles: removed.length,
    numRestoredFiles: restored.length,
    removedFilesSize: totalBytes(removed),
    restoredFilesSize: totalBytes(restored),
  };
  if (to.version === base.version) return { version: base.version, ...result };
  const deletedMs = Math.max(context.clock.now(), base.committedAt);
  const version = await commitTransaction(context, {
    base,
    operation: 'RESTORE',
    // The history names what the caller named.
    operationParameters: { version: to.timestamp === undefined ? to.version : null, timestamp: to.timestamp ?? null },
    operationMetrics: Object.fromEntries(Object.entries(result).map(([name, value]) => [name, String(value)])),
    actions: [
      ...definitionActions(base, target),
      ...restored.map((file): AddFile => ({ ...file, dataChange: true })),
      ...removed.map((file) => removeOf(file, { deletedMs, dataChange: true })),
    ],
    addsKnownFiles: true,
    reads: { wholeTable: true },
    userMetadata: options.userMetadata,
    idempotency: options.idempotency,
    autoCompact: { enabled: false },
    signal,
  });
  return { version, ...result };
}

function definitionActions(base: DeltaSnapshot, target: DeltaSnapshot): readonly Action[] {
  const protocol = restoredProtocol(base, target);
  const changed: readonly Action[] = sameProtocol(protocol, base.protocol) ? [] : [protocol];
  return [restoredMetadata(base, target), ...changed, ...restoredDomains(base, target)];
}

function keyed(snapshot: DeltaSnapshot): ReadonlyMap<string, AddFile> {
  return new Map([...snapshot.files()].map((file) => [fileKey(file), file]));
}

async function snapshotToRestore(
  context: OperationContext,
  base: DeltaSnapshot,
  version: Version,
  signal: AbortSignal | undefined,
): Promise<DeltaSnapshot> {
  if (version >= 0 && version <= base.version) {
    try {
      return await context.snapshotAt(version, signal);
    } catch (error) {
      if (!isServiceError(error, 'not-found', 'corrupt', 'invalid')) throw error;
    }
  }
  const { commits, checkpoints } = await listLog(context.store, 0, signal);
  const first = commits[0]?.version === 0 ? 0 : (checkpoints[0]?.version ?? commits[0]?.version ?? 0);
  throw new AnalysisException({
    errorClass: 'DELTA_CANNOT_RESTORE_TABLE_VERSION',
    parameters: { version: String(version), startVersion: String(first), endVersion: String(base.version) },
    message: `Cannot restore table to version ${version}. Available versions: [${toVersion(first)}, ${base.version}].`,
    context: { table: context.name },
  });
}

/** Files outside the table, as shallow clones have them, are not looked for: nothing but reading them tells. */
async function refuseMissingFiles(
  context: OperationContext,
  files: readonly AddFile[],
  version: Version,
  signal: AbortSignal | undefined,
): Promise<void> {
  const missing: string[] = [];
  const look = async (file: AddFile): Promise<void> => {
    if (/^([a-z][a-z0-9+.-]*:|\/)/i.test(file.storedPath) || missing.length >= maxNamedFiles) return;
    if ((await context.store.head(file.storedPath, signal)) === undefined) missing.push(file.path);
  };
  await mapBounded(files, headConcurrency, look, signal);
  if (missing.length === 0) return;
  const missedFiles = missing.sort().join(',');
  throw new AnalysisException({
    errorClass: 'DELTA_RESTORE_MISSING_FILES',
    parameters: { version: String(version), missedFiles },
    message:
      `Not all files from version ${version} are available in file system. Missed files (top ${maxNamedFiles} files): ${missedFiles}. ` +
      'Please use more recent version or timestamp for restoring. To disable check update option spark.sql.files.ignoreMissingFiles',
    hint: 'vacuum deleted them; restore a younger version, or accept that those rows are lost',
    context: { table: context.name },
  });
}
