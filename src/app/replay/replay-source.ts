import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { isJsonObject, parseJson } from '../../base/bigint-json.ts';
import { serviceError } from '../../base/errors.ts';
import { packageRoot } from '../package.ts';

/** One record to replay. */
export interface ReplayRecord {
  readonly key: Uint8Array;
  /** A line of the file as it stands there. */
  readonly value: Uint8Array;
}

const maxUnpackedBytes = 256 * 1024 * 1024;
const lineFeed = 0x0a;

/** The month of flights that comes with the project (examples/data/README.md), from the sources and from the build alike. */
export const sampleFlights: string = join(packageRoot, 'examples', 'data', 'flights-2013-01.ndjson.br');

/**
 * Reads newline-delimited JSON, packed with brotli (`.br`) or gzip (`.gz`) or not at all, in the order of the file. The key is the text
 * of the member `keyMember`.
 *
 * @throws ServiceError `REPLAY_SOURCE_INVALID` (invalid) naming the line, or when the file cannot be read or exceeds 256 MiB.
 */
export async function loadReplaySource(options: { readonly path: string; readonly keyMember: string }): Promise<readonly ReplayRecord[]> {
  const bytes = await readUnpacked(options.path);
  const records: ReplayRecord[] = [];
  let from = 0;
  while (from < bytes.length) {
    const end = bytes.indexOf(lineFeed, from);
    const until = end < 0 ? bytes.length : end;
    const value = bytes.subarray(from, until);
    from = until + 1;
    if (value.length > 0) records.push({ key: keyOf(value, options, records.length + 1), value });
  }
  return records;
}

async function readUnpacked(path: string): Promise<Buffer> {
  try {
    const bytes = await readFile(path);
    if (path.endsWith('.br')) return brotliDecompressSync(bytes, { maxOutputLength: maxUnpackedBytes });
    if (path.endsWith('.gz')) return gunzipSync(bytes, { maxOutputLength: maxUnpackedBytes });
    return bytes;
  } catch (cause) {
    throw serviceError.invalid(
      'REPLAY_SOURCE_INVALID',
      `${path} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
}

function keyOf(line: Buffer, source: { readonly path: string; readonly keyMember: string }, record: number): Uint8Array {
  const where = `${source.path} record ${record}`;
  const value = parseJson(line.toString('utf8'), where);
  const key = isJsonObject(value) ? value[source.keyMember] : undefined;
  if (typeof key === 'string') return Buffer.from(key, 'utf8');
  throw serviceError.invalid('REPLAY_SOURCE_INVALID', `${where}: "${source.keyMember}" is no text`);
}
