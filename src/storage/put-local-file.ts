import { readFile } from 'node:fs/promises';
import type { ObjectStore } from './object-store.ts';

/** Puts a local file as an object. In little memory where the store can, else the file is read whole. Errors as `put`. */
export async function putLocalFile(store: ObjectStore, path: string, file: string, signal?: AbortSignal): Promise<void> {
  if (store.putFile !== undefined) await store.putFile(path, file, signal);
  else await store.put(path, await readFile(file), signal);
}
