import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { throwIfAborted } from '../../base/abort.ts';
import { isServiceError } from '../../base/errors.ts';
import { mapBounded } from '../../base/map-bounded.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import type { WrittenFile } from '../engine.ts';

const uploadsInFlight = 4;

/**
 * Lets `write` make files in the directory and puts them into the store; the directory is removed in every case. When it rejects, the store has
 * none of them (best effort: nothing refers to what a failed delete leaves).
 */
export async function writeToStore(
  target: { readonly store: ObjectStore; readonly directory: string },
  write: () => Promise<readonly WrittenFile[]>,
  signal: AbortSignal | undefined,
): Promise<readonly WrittenFile[]> {
  const { store, directory } = target;
  const begun: string[] = [];
  try {
    const files = await write();
    await mapBounded(files, uploadsInFlight, async ({ path }) => {
      throwIfAborted(signal);
      begun.push(path);
      const file = join(directory, path);
      await putLocalFile(store, path, file, signal);
      await rm(file);
    });
    return files;
  } catch (error) {
    await mapBounded(begun, uploadsInFlight, (path) => discard(store, path));
    throw error;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function discard(store: ObjectStore, path: string): Promise<void> {
  try {
    await store.delete(path);
  } catch (error) {
    if (!isServiceError(error)) throw error;
  }
}

/** Puts a local file as an object. In little memory where the store can, else the file is read whole. Errors as `put`. */
export async function putLocalFile(store: ObjectStore, path: string, file: string, signal?: AbortSignal): Promise<void> {
  if (store.putFile !== undefined) await store.putFile(path, file, signal);
  else await store.put(path, await readFile(file), signal);
}
