import type { ObjectStore } from '../../storage/object-store.ts';
import type { Folders } from './folders.ts';

/** Keeps a folder that holds nothing else. */
const markName = '.namespace';

/** Folders of an object store: what paths have in common, with a mark in those that were made as such. */
export class StoreFolders implements Folders {
  readonly #store: ObjectStore;

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  async children(path: string, signal?: AbortSignal): Promise<readonly string[] | undefined> {
    const prefix = path === '' ? '' : `${path}/`;
    const found = new Set<string>();
    let startAfter: string | undefined;
    let present = path === '';
    // Steps over the inside of each folder: one listing call a folder, not one a file.
    for (;;) {
      const next = await this.#first(prefix, startAfter, signal);
      if (next === undefined) return present ? [...found] : undefined;
      present = true;
      const [name = '', ...below] = next.slice(prefix.length).split('/');
      if (below.length > 0) found.add(name);
      startAfter = below.length > 0 ? behind(`${prefix}${name}`) : next;
    }
  }

  async create(path: string, signal?: AbortSignal): Promise<boolean> {
    if ((await this.#first(`${path}/`, undefined, signal)) !== undefined) return false;
    return (await this.#store.putIfAbsent(`${path}/${markName}`, new Uint8Array(0), signal)) === 'created';
  }

  async removeEmpty(path: string, signal?: AbortSignal): Promise<'removed' | 'absent' | 'not-empty'> {
    const mark = `${path}/${markName}`;
    const first = await this.#first(`${path}/`, undefined, signal);
    if (first === undefined) return 'absent';
    const second = first === mark ? await this.#first(`${path}/`, mark, signal) : first;
    if (second !== undefined) return 'not-empty';
    await this.#store.delete(mark, signal);
    return 'removed';
  }

  async #first(prefix: string, startAfter: string | undefined, signal: AbortSignal | undefined): Promise<string | undefined> {
    for await (const { path } of this.#store.list({ prefix, startAfter }, signal)) return path;
    return undefined;
  }
}

/** Sorts after every path in a folder whose parts do not begin with the last code points there are. */
function behind(folder: string): string {
  return `${folder}/${'\u{10ffff}'.repeat(8)}`;
}
