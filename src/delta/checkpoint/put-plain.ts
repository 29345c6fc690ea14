import type { ObjectStore } from '../../storage/object-store.ts';
import { hadoopChecksumPath } from '../log/log-names.ts';

/** Puts an object that may be there. Hadoop would hold the replaced bytes against the checksum of the old ones: its checksum file goes first. */
export async function putPlain(store: ObjectStore, path: string, bytes: Uint8Array, signal: AbortSignal | undefined): Promise<void> {
  await store.delete(hadoopChecksumPath(path), signal);
  await store.put(path, bytes, signal);
}
