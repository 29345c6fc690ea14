import type { ObjectStore } from '../../src/storage/object-store.ts';

/** The same store with some calls replaced, for faults at an exact place. */
export function intercepted(store: ObjectStore, calls: Partial<Omit<ObjectStore, 'root'>>): ObjectStore {
  return {
    root: store.root,
    read: (path, signal) => store.read(path, signal),
    readRange: (path, range, signal) => store.readRange(path, range, signal),
    head: (path, signal) => store.head(path, signal),
    list: (options, signal) => store.list(options, signal),
    put: (path, bytes, signal) => store.put(path, bytes, signal),
    putIfAbsent: (path, bytes, signal) => store.putIfAbsent(path, bytes, signal),
    delete: (path, signal) => store.delete(path, signal),
    ...calls,
  };
}
