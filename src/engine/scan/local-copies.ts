import { isServiceError, type ServiceError, serviceError } from '../../base/errors.ts';
import { refuseLinksOut } from '../../storage/allowed-locations.ts';
import type { LocalFileCache, PinnedFile, RemoteFile } from '../../storage/local-file-cache.ts';
import type { OpenObjectStore } from '../../storage/object-store.ts';
import type { FileScan, ScanFile } from '../../table/scan.ts';
import { fileMissing, isLocalPath, localPath, refuseManyFiles } from '../local-path.ts';

/** Where the engine finds the files of a scan. */
export interface LocalCopies {
  /** Of each file in turn; empty for one that the engine does not open itself. Valid until released. */
  readonly paths: readonly string[];
  readonly release: () => void;
}

export interface CopyParts {
  readonly cache: LocalFileCache;
  /** For files of scans that do not say how they are read. */
  readonly openStore: OpenObjectStore | undefined;
}

const filesInFlight = 4;

/**
 * Local paths for the files of a scan: local ones where they lie, others as whole copies in the cache, a few at a time.
 *
 * @throws ServiceError `ENGINE_FILE_MISSING` (not-found), `ENGINE_NEEDS_LOCAL_FILES` (unsupported) for a file that nothing can read; what the
 * cache and the stores throw.
 */
export async function localCopies(scan: FileScan, parts: CopyParts, signal: AbortSignal | undefined): Promise<LocalCopies> {
  const opened = scan.files.map((file) => file.rows === undefined);
  const paths = scan.files.map((file, index) => (opened[index] === true && isLocalPath(file.path) ? localPath(file.path) : ''));
  const local = paths.filter((path) => path !== '');
  if (scan.within !== undefined) await refuseLinksOut(local, scan.within);
  await refuseManyFiles(local);
  const remote = scan.files.flatMap((file, index) => (opened[index] === true && paths[index] === '' ? [{ file, index }] : []));
  const pins: PinnedFile[] = [];
  const release = (): void => {
    for (const pin of pins) pin.release();
  };
  const worker = async (): Promise<void> => {
    for (let next = remote.pop(); next !== undefined; next = remote.pop()) {
      try {
        const pin = await parts.cache.pin(await remoteFile(scan, next.file, parts, signal), signal);
        pins.push(pin);
        paths[next.index] = pin.path;
      } catch (error) {
        // The others begin nothing more.
        remote.length = 0;
        throw isServiceError(error, 'not-found') ? fileMissing(next.file.path, 'is not there', error) : error;
      }
    }
  };
  const settled = await Promise.allSettled(Array.from({ length: Math.min(filesInFlight, remote.length) }, worker));
  const failure = settled.find((one) => one.status === 'rejected');
  if (failure === undefined) return { paths, release };
  release();
  throw failure.reason;
}

async function remoteFile(scan: FileScan, file: ScanFile, parts: CopyParts, signal: AbortSignal | undefined): Promise<RemoteFile> {
  const { path } = file;
  const { readRange } = scan;
  if (readRange !== undefined) {
    const sizeBytes = file.sizeBytes > 0 ? file.sizeBytes : undefined;
    return { key: path, sizeBytes, readRange: (range, inner) => readRange(path, range, inner) };
  }
  const at = path.lastIndexOf('/');
  const store = parts.openStore?.(path.slice(0, at));
  if (store === undefined || at < 0) throw needsLocalFiles(path);
  const name = path.slice(at + 1);
  const info = await store.head(name, signal);
  if (info === undefined) throw fileMissing(path, 'is not there');
  // What belongs to no table may be replaced.
  const key = `${info.sizeBytes}:${info.modifiedMs}:${path}`;
  return { key, sizeBytes: info.sizeBytes, readRange: (range, inner) => store.readRange(name, range, inner) };
}

function needsLocalFiles(path: string): ServiceError {
  return serviceError.unsupported('ENGINE_NEEDS_LOCAL_FILES', `the engine reads local files only: ${path}`);
}
