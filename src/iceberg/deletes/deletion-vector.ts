import { isServiceError, type ServiceError, serviceError } from '../../base/errors.ts';
import { decodeDeletionVector } from '../../codec/puffin/deletion-vector-blob.ts';
import type { BitmapHeaders } from '../../codec/roaring/decode-roaring.ts';
import type { ManifestEntry } from '../metadata/content-file.ts';
import { type MetadataSource, missingFile } from '../scan/manifests.ts';

/** Largest vector that is read. */
const maxVectorBytes = 2 ** 30;
const puffinMagic = Buffer.from('PFA1');

/**
 * The ascending row positions a deletion vector names. `rows` of its data file, where they are
 * known, bound them. Whatever is wrong with it is an error: rows that may be deleted are not shown.
 *
 * @throws ServiceError `ICEBERG_FILE_MISSING` (not-found), `ICEBERG_DELETION_VECTOR_CORRUPT` (corrupt) naming the Puffin file.
 */
export async function readDeletionVector(
  source: MetadataSource,
  { file }: ManifestEntry,
  rows: number | undefined,
  signal?: AbortSignal,
): Promise<BigInt64Array> {
  const { contentOffset: from, contentSizeBytes: length } = file;
  if (from === undefined || length === undefined) throw corrupt(file.path, 'the manifest does not say where it is');
  if (from < puffinMagic.length || length < 0 || length > maxVectorBytes)
    throw corrupt(file.path, `${length} bytes at ${from} cannot be one`);
  try {
    const magic = await source.files.readRange(file.path, { from: 0, until: puffinMagic.length }, signal);
    if (Buffer.compare(magic, puffinMagic) !== 0) throw corrupt(file.path, 'its file is no Puffin file');
    const bytes = await source.files.readRange(file.path, { from, until: from + length }, signal);
    if (bytes.length !== length) throw corrupt(file.path, `the file ends ${length - bytes.length} bytes too early`);
    return checked(file.path, bytes, file.recordCount, rows);
  } catch (error) {
    throw missingFile(source, 'file of a deletion vector', file.path, error);
  }
}

/** Headers are held against the manifest, and against the rows of the data file, before memory is taken for the positions. */
function checked(path: string, bytes: Uint8Array, cardinality: number, rows: number | undefined): BigInt64Array {
  const positions = decoded(path, bytes, (headers) => {
    if (headers.positions !== cardinality) throw corrupt(path, `it has ${headers.positions} positions, the manifest says ${cardinality}`);
    if (rows !== undefined && Math.max(cardinality, headers.lastFrom + 1) > rows) throw beyondRows(path, cardinality, rows);
  });
  if (rows !== undefined && (positions.at(-1) ?? -1n) >= rows) throw beyondRows(path, cardinality, rows);
  return positions;
}

function beyondRows(path: string, cardinality: number, rows: number): ServiceError {
  return corrupt(path, `its ${cardinality} positions reach beyond the ${rows} rows of its data file`);
}

function decoded(path: string, bytes: Uint8Array, check: (headers: BitmapHeaders) => void): BigInt64Array {
  try {
    return decodeDeletionVector(bytes, `in "${path}"`, check);
  } catch (error) {
    if (!isServiceError(error, 'corrupt')) throw error;
    throw corrupt(path, error.message, error);
  }
}

function corrupt(path: string, problem: string, cause?: unknown): ServiceError {
  return serviceError.corrupt('ICEBERG_DELETION_VECTOR_CORRUPT', `deletion vector in "${path}": ${problem}`, {
    hint: 'the deleted rows cannot be told from the others: nothing is read; restore the file from a copy',
    cause,
  });
}
