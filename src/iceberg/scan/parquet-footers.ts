import { throwIfAborted } from '../../base/abort.ts';
import { isServiceError, type ServiceError, serviceError } from '../../base/errors.ts';
import { LruCache } from '../../base/lru-cache.ts';
import { type FileSchema, readFileSchema } from '../../codec/parquet/file-schema.ts';
import { footerLength, footerTailBytes } from '../../codec/parquet/footer.ts';
import { type FileSource, missingFile } from './manifests.ts';

/** Footers of most files are shorter: they are read at once. */
const guessedTailBytes = 16 * 1024;
/** No footer is longer. */
const maxFooterBytes = 256 * 1024 * 1024;
/** Files whose columns are remembered. */
const maxRemembered = 100_000;

/**
 * The columns of a Parquet file by its footer. Files of equal columns share one object.
 *
 * The size in the manifest is only a hint: where the file was rewritten, the storage is asked.
 *
 * @throws ServiceError `ICEBERG_FILE_MISSING` (not-found), `PARQUET_CORRUPT` (corrupt) naming the file.
 */
export async function fileSchemaOf(
  source: FileSource,
  file: { readonly path: string; readonly fileSizeBytes: number },
  signal?: AbortSignal,
): Promise<FileSchema> {
  const cache = cacheOf(source.files);
  const present = cache.byPath.take(file.path);
  if (present !== undefined) return present;
  throwIfAborted(signal);
  let footer: Uint8Array;
  try {
    footer = await footerOf(source.files, file, signal);
  } catch (error) {
    throw missingFile(source, 'data file', file.path, error);
  }
  const schema = interned(cache, parsed(source, file.path, footer));
  cache.byPath.put(file.path, schema, 1);
  return schema;
}

async function footerOf(
  files: FileSource['files'],
  file: { readonly path: string; readonly fileSizeBytes: number },
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  let end = file.fileSizeBytes;
  let tail = await files.readRange(file.path, { from: Math.max(0, end - guessedTailBytes), until: end }, signal);
  let length = footerLength(tail);
  if (length === undefined) {
    const head = await files.head(file.path, signal);
    if (head === undefined) throw serviceError.notFound('STORAGE_NOT_FOUND', file.path);
    end = head.sizeBytes;
    tail = await files.readRange(file.path, { from: Math.max(0, end - guessedTailBytes), until: end }, signal);
    length = footerLength(tail);
  }
  if (length === undefined || length > maxFooterBytes) throw corrupt(file.path, 'it does not end as a parquet file does');
  if (length + footerTailBytes > tail.length) {
    // Where the file is longer than the manifest says, its end was found all the same: what is before it is asked for by the real size.
    end = (await files.head(file.path, signal))?.sizeBytes ?? end;
    tail = await files.readRange(file.path, { from: Math.max(0, end - footerTailBytes - length), until: end }, signal);
  }
  if (length + footerTailBytes > tail.length) throw corrupt(file.path, 'its footer is longer than the file');
  return tail.subarray(tail.length - footerTailBytes - length, tail.length - footerTailBytes);
}

function parsed(source: FileSource, path: string, footer: Uint8Array): FileSchema {
  try {
    return readFileSchema(footer);
  } catch (error) {
    if (!isServiceError(error, 'corrupt')) throw error;
    throw corrupt(path, `${error.message} (table "${source.name}")`, error);
  }
}

function corrupt(path: string, problem: string, cause?: unknown): ServiceError {
  return serviceError.corrupt('PARQUET_CORRUPT', `data file "${path}": ${problem}`, { cause });
}

interface FooterCache {
  readonly byPath: LruCache<string, FileSchema>;
  readonly bySignature: LruCache<string, FileSchema>;
}

const caches = new WeakMap<FileSource['files'], FooterCache>();

function cacheOf(files: FileSource['files']): FooterCache {
  const present = caches.get(files);
  if (present !== undefined) return present;
  const cache: FooterCache = { byPath: new LruCache({ maxWeight: maxRemembered }), bySignature: new LruCache({ maxWeight: 1_000 }) };
  caches.set(files, cache);
  return cache;
}

function interned(cache: FooterCache, schema: FileSchema): FileSchema {
  const present = cache.bySignature.take(schema.signature);
  if (present !== undefined) return present;
  cache.bySignature.put(schema.signature, schema, 1);
  return schema;
}
