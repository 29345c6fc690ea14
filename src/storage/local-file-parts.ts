import { constants } from 'node:fs';
import { type FileHandle, open, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { throwIfAborted } from '../base/abort.ts';
import type { IdSource } from '../base/ids.ts';
import { temporaryPrefix } from './local-listing.ts';
import { makeDirectory, syncDirectory, translated } from './local-object-store.ts';

/** Bytes, or bytes `[from, until)` of a local file. */
export type FilePart =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'range'; readonly path: string; readonly from: number; readonly until: number };

/** The last bytes of a file. */
export interface FileEnd {
  readonly sizeBytes: number;
  readonly bytes: Uint8Array;
}

const bufferBytes: number = 4 << 20;

/** The last `wantedBytes` bytes, or all when the file is shorter. Errors as `ObjectStore`. */
export async function readFileEnd(path: string, wantedBytes: number): Promise<FileEnd> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, constants.O_RDONLY);
    const sizeBytes = (await file.stat()).size;
    const bytes = new Uint8Array(Math.min(wantedBytes, sizeBytes));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, sizeBytes - bytes.length);
    return { sizeBytes, bytes: bytes.subarray(0, bytesRead) };
  } catch (error) {
    throw failure(path, error);
  } finally {
    await file?.close();
  }
}

/**
 * Writes a file out of parts, in the memory of one buffer. Durable and whole when it resolves; a reader never sees part of it.
 *
 * @returns the bytes written; `undefined` when a part turned out shorter than promised, and nothing is left of the file then.
 * @throws ServiceError as `ObjectStore`, for what a part is read from too.
 */
export async function writeFileParts(
  path: string,
  parts: Iterable<FilePart>,
  options: { readonly ids: IdSource; readonly signal?: AbortSignal | undefined },
): Promise<number | undefined> {
  const { ids, signal } = options;
  const temporary = join(dirname(path), `${temporaryPrefix}${ids.uuid()}`);
  try {
    await makeDirectory(dirname(path));
    const written = await copyParts(temporary, parts, signal);
    if (written === undefined) return undefined;
    throwIfAborted(signal);
    await rename(temporary, path);
    await syncDirectory(dirname(path));
    return written;
  } catch (error) {
    throw failure(path, error);
  } finally {
    // After the rename it is gone already.
    await unlink(temporary).catch(() => undefined);
  }
}

async function copyParts(temporary: string, parts: Iterable<FilePart>, signal: AbortSignal | undefined): Promise<number | undefined> {
  const output = await open(temporary, 'wx', 0o644);
  try {
    const buffer = Buffer.allocUnsafe(bufferBytes);
    let written = 0;
    for (const part of parts) {
      throwIfAborted(signal);
      if (part.kind === 'bytes') await output.writeFile(part.bytes);
      else if (!(await copyRange(output, part, buffer, signal))) return undefined;
      written += part.kind === 'bytes' ? part.bytes.length : part.until - part.from;
    }
    await output.datasync();
    return written;
  } finally {
    await output.close();
  }
}

/** False when the file ends too early. */
async function copyRange(
  output: FileHandle,
  part: Extract<FilePart, { kind: 'range' }>,
  buffer: Buffer,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const input = await open(part.path, constants.O_RDONLY);
  try {
    for (let at = part.from; at < part.until; ) {
      throwIfAborted(signal);
      const { bytesRead } = await input.read(buffer, 0, Math.min(buffer.length, part.until - at), at);
      if (bytesRead === 0) return false;
      await output.writeFile(buffer.subarray(0, bytesRead));
      at += bytesRead;
    }
    return true;
  } finally {
    await input.close();
  }
}

function failure(path: string, error: unknown): unknown {
  return translated(pathToFileURL(dirname(path)).href, basename(path), error);
}
