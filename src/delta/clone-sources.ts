import { fileURLToPath } from 'node:url';
import { plainLocation } from '../storage/allowed-locations.ts';

/** Which directories the clones that were made here refer to: by their makers' word, not by that of their logs. */
export class CloneSources {
  readonly #sources = new Map<string, readonly string[]>();

  /** Directories of the files of a clone at a root: its source's, and those that a source which is a clone itself refers to. */
  of(root: string): readonly string[] {
    return this.#sources.get(placeOf(root)) ?? [];
  }

  /** Takes down that a table was made as a clone of another. */
  add(root: string, sources: readonly string[]): void {
    this.#sources.set(placeOf(root), sources);
  }
}

/** Roots of local stores are URIs. */
function placeOf(root: string): string {
  return plainLocation(root.startsWith('file:') ? fileURLToPath(root) : decodeURIComponent(root));
}
