import { fileURLToPath } from 'node:url';
import type { ObjectStore } from '../../storage/object-store.ts';
import type { ParquetTarget } from '../engine.ts';

/** Where the engine writes files of a store: straight into its directory where it has one. */
export function parquetPlace(store: ObjectStore): Pick<ParquetTarget, 'directory' | 'store'> {
  return store.root.startsWith('file://') ? { directory: fileURLToPath(store.root) } : { directory: '', store };
}
