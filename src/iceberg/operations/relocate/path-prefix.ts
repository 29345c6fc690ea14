import { illegalArgument } from '../operation-errors.ts';

/** A directory that paths are moved out of, and where they are moved and staged. Slashes at the ends of directories make no difference. */
export class PathPrefix {
  readonly #source: string;
  readonly #target: string;
  readonly #staging: string;

  constructor(directories: { readonly source: string; readonly target: string; readonly staging: string }) {
    this.#source = directory(directories.source);
    this.#target = directories.target;
    this.#staging = directories.staging;
  }

  /** Where the path will be. The source itself becomes the target as it was given. @throws AnalysisException `INVALID_ARGUMENT` for a path outside of the source. */
  targetOf(path: string): string {
    return below(this.#target, this.#relative(path));
  }

  /** Where what takes the path's place is written meanwhile. @throws as `targetOf`. */
  stagedOf(path: string): string {
    return below(this.#staging, this.#relative(path));
  }

  /** Whether the path is in the source. */
  holds(path: string): boolean {
    return directory(path).startsWith(this.#source);
  }

  #relative(path: string): string {
    const asDirectory = directory(path);
    if (asDirectory === this.#source) return '';
    if (asDirectory.startsWith(this.#source)) return path.slice(this.#source.length);
    throw illegalArgument(
      `Path ${path} does not start with ${this.#source}`,
      'source_prefix must be a directory that all files of the table are in, spelled as the metadata spells it',
    );
  }
}

/** With one slash at the end at least. */
export function directory(path: string): string {
  return path.endsWith('/') ? path : `${path}/`;
}

function below(parent: string, relative: string): string {
  return relative === '' ? parent : `${directory(parent)}${relative}`;
}
