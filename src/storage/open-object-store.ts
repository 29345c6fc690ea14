import { fileURLToPath } from 'node:url';
import type { Clock } from '../base/clock.ts';
import { ServiceError } from '../base/errors.ts';
import { type IdSource, RandomIdSource } from '../base/ids.ts';
import { SystemClock } from '../base/system-clock.ts';
import { SystemRandom } from '../base/system-random.ts';
import { LocalObjectStore } from './local-object-store.ts';
import { MemoryObjectStore } from './memory-object-store.ts';
import type { ObjectStore, OpenObjectStore } from './object-store.ts';

/**
 * Opens stores by location: `file:///abs/dir`, an absolute or relative directory, or `memory://name`, which is one store per name for
 * every caller of the returned function.
 */
export function objectStoreOpener(parts: { readonly clock: Clock; readonly ids: IdSource }): OpenObjectStore {
  const memories = new Map<string, ObjectStore>();
  return (location) => {
    const memory = /^memory:\/\/(.+)$/.exec(location)?.[1];
    if (memory === undefined) return new LocalObjectStore({ directory: directoryOf(location), ids: parts.ids });
    const store = memories.get(memory) ?? new MemoryObjectStore({ name: memory, clock: parts.clock });
    memories.set(memory, store);
    return store;
  };
}

/** The opener of this thread, with the real clock. @throws ServiceError `STORAGE_LOCATION_INVALID` (kind invalid). */
export const openObjectStore: OpenObjectStore = objectStoreOpener({
  clock: new SystemClock(),
  ids: new RandomIdSource(new SystemRandom()),
});

function directoryOf(location: string): string {
  if (!/^[a-z][a-z0-9+.-]+:/i.test(location) && location !== '') return location;
  try {
    return fileURLToPath(location);
  } catch (cause) {
    throw new ServiceError({
      code: 'STORAGE_LOCATION_INVALID',
      kind: 'invalid',
      message: `"${location}" is not a location this version can open`,
      hint: 'write a directory, file:///absolute/directory or memory://name',
      cause,
    });
  }
}
