import { serviceError } from '../../base/errors.ts';
import { mapBounded } from '../../base/map-bounded.ts';
import { scanColumns } from '../../engine/engine.ts';
import { quoteName } from '../../expr/sql/engine-sql.ts';
import type { ScratchFile } from '../../rows/files/scratch-files.ts';
import type { ChangeFile } from '../../table/changes.ts';
import type { FileScan, ScanFile } from '../../table/scan.ts';
import { dataLocations } from '../files/data-locations.ts';
import { isBelow, parentLocation, plainLocation } from '../location.ts';
import { fileScanOf } from '../scan/file-scan.ts';
import type { LiveFile } from '../scan/live-files.ts';
import { fileSchemaOf } from '../scan/parquet-footers.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import type { TableContext } from '../table-context.ts';
import type { ChangeSource, FeedFiles } from './change-source.ts';
import { isPlain } from './plain-files.ts';

const filesAtOnce = 8;
/** Files that the engine rewrites for a reader lie on local disk together: beyond this the version is refused. */
const maxScratchBytes: number = 16 * 1024 ** 3;

/**
 * Data files of a state as files whose rows are inserts, in the order of their paths: as they are where the worker can read them, otherwise
 * rewritten by the engine, each to a file of its own.
 *
 * @throws ServiceError `CDF_UNSUPPORTED` (unsupported) for more bytes to rewrite than fit, and what reading throws.
 */
export async function feedFilesOf(
  source: ChangeSource,
  state: SnapshotState,
  live: readonly LiveFile[],
  signal?: AbortSignal,
): Promise<FeedFiles> {
  const files = live.toSorted((left, right) => Buffer.compare(Buffer.from(left.entry.file.path), Buffer.from(right.entry.file.path)));
  const constants = identityColumns(state);
  const plain = await mapBounded(files, filesAtOnce, async ({ entry: { file } }) => {
    if (file.format !== 'parquet') return false;
    return isPlain(state.schema.fields, await fileSchemaOf(source.context, file, signal), constants.get(file.specId) ?? noColumns);
  });
  const scan = await fileScanOf(source.context, state, files, {}, signal);
  refuseTooLarge(
    source.context,
    files.filter((_, index) => plain[index] === false),
  );
  const made: ScratchFile[] = [];
  const release = (): Promise<void> => source.scratch.delete(made);
  try {
    const found: (ChangeFile | undefined)[] = [];
    for (const [index, file] of scan.files.entries()) {
      const entry = files[index]?.entry;
      if (plain[index] === true && entry !== undefined) {
        const deletedRows = await file.deletedRows?.(signal);
        found.push(asItIs(source, state, entry.file, deletedRows));
      } else found.push(await rewritten(source, scan, file, made, signal));
    }
    const kept = found.filter((file) => file !== undefined);
    return made.length === 0 ? { files: kept } : { files: kept, release };
  } catch (error) {
    await release();
    throw error;
  }
}

const noColumns: ReadonlySet<number> = new Set();

/** By spec: the columns a file need not hold, for its partition says them. */
function identityColumns({ metadata }: SnapshotState): ReadonlyMap<number, ReadonlySet<number>> {
  return new Map(
    metadata.partitionSpecs.map(({ specId, fields }) => [
      specId,
      new Set(fields.filter(({ transform }) => transform.kind === 'identity').map(({ sourceId }) => sourceId)),
    ]),
  );
}

function asItIs(
  { context, storage }: ChangeSource,
  { metadata }: SnapshotState,
  file: LiveFile['entry']['file'],
  deletedRows: BigInt64Array | undefined,
): ChangeFile {
  const { root } = dataLocations(metadata);
  const directory = isBelow(plainLocation(file.path), plainLocation(root)) ? root : parentLocation(file.path);
  const path = plainLocation(file.path).slice(plainLocation(directory).length).replace(/^\/+/, '');
  const deleted = deletedRows === undefined || deletedRows.length === 0 ? undefined : deletedRows;
  return {
    kind: 'insert',
    path,
    location: context.files.openable(directory),
    ...(storage === undefined ? {} : { storage }),
    sizeBytes: file.fileSizeBytes,
    partitionValues: {},
    rowCount: file.recordCount - (deleted?.length ?? 0),
    ...(deleted === undefined ? {} : { deletedRows: deleted }),
  };
}

async function rewritten(
  { context, scratch }: ChangeSource,
  scan: FileScan,
  file: ScanFile,
  made: ScratchFile[],
  signal: AbortSignal | undefined,
): Promise<ChangeFile | undefined> {
  const engine = await context.engine();
  const rows = await engine.scan({ ...scan, files: [file] }, { withPositions: true }, signal);
  try {
    const columns = rows.schema.fields.map(({ name }) => quoteName(name)).join(', ');
    const sql = `SELECT ${columns} FROM (${rows.sql}) ORDER BY ${quoteName(scanColumns.rowPosition)}`;
    const written = await scratch.write(engine, { sql, schema: rows.schema }, signal);
    if (written === undefined) return undefined;
    made.push(written);
    const { directory: location, path, sizeBytes, rowCount } = written;
    return { kind: 'insert', path, location, sizeBytes, partitionValues: {}, rowCount };
  } finally {
    await rows.dispose();
  }
}

function refuseTooLarge(context: TableContext, files: readonly LiveFile[]): void {
  const bytes = files.reduce((sum, { entry }) => sum + entry.file.fileSizeBytes, 0);
  if (bytes <= maxScratchBytes) return;
  throw serviceError.unsupported(
    'CDF_UNSUPPORTED',
    `table "${context.name}": ${bytes} bytes of files have to be rewritten to be read by the feed, at most ${maxScratchBytes} are`,
    {
      hint: 'rewrite the data files of the table to Parquet in its newest schema (CALL system.rewrite_data_files) and start the feed behind that',
    },
  );
}
