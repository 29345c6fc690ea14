import { AnalysisException } from '../base/analysis-exception.ts';
import { mapBounded } from '../base/map-bounded.ts';

/**
 * A commit that follows its staging within this time does not look whether its files are there. Nothing that deletes by age can mean them: vacuum
 * and the removal of orphan files keep what is younger than their retention, seven and three days by default and a second at the least that makes
 * sense. What takes longer has waited for something (other commits, the store, a process that stood still), and beside that one look a file
 * costs nothing.
 */
export const trustedStagingMs = 1_000;

/** Looks that run at the same time. */
const looksAtOnce = 16;
/** A look that itself took longer than staged files are trusted is repeated so often, and then it is taken as it is. */
const maxLooks = 3;

/** Files that a commit is about to refer to, for the first time. */
export interface StagedFiles {
  /** In the order in which they are named. */
  readonly paths: readonly string[];
  /** When writing them began, by `Clock.monotonicMs`; `undefined`: not known, and they are looked for whatever the time. */
  readonly sinceMs: number | undefined;
}

export const nothingStaged: StagedFiles = { paths: [], sinceMs: undefined };

export interface StagedLook {
  readonly monotonicMs: () => number;
  readonly isThere: (path: string) => Promise<boolean>;
}

/**
 * A staged file that is not there any more, to be asked right before the write that makes it live; `undefined`: all are there, or too young to
 * be gone. What somebody deletes in the moment between the look and the write stays unseen.
 *
 * @throws the store's errors.
 */
export async function missingStagedFile(files: StagedFiles, look: StagedLook): Promise<string | undefined> {
  let { sinceMs } = files;
  for (let looks = 0; looks < maxLooks; looks += 1) {
    const nowMs = look.monotonicMs();
    if (files.paths.length === 0 || (sinceMs !== undefined && nowMs - sinceMs < trustedStagingMs)) return undefined;
    let missing: string | undefined;
    await mapBounded(files.paths, looksAtOnce, async (path) => {
      if (missing === undefined && !(await look.isThere(path))) missing = path;
    });
    if (missing !== undefined) return missing;
    sinceMs = nowMs;
  }
  return undefined;
}

/** A file that a commit was about to refer to was deleted before. Nothing of the commit became visible; the whole operation can be run again. */
export class StagedFileMissingException extends AnalysisException {
  readonly path: string;

  constructor(table: string, path: string) {
    super({
      errorClass: 'STAGED_FILE_MISSING',
      kind: 'conflict',
      message: `table "${table}": file ${path} was deleted before the commit that would have made it part of the table`,
      hint: 'run the operation again; something deletes files that are being written: vacuum or remove_orphan_files with a retention shorter than writers take, or a clean-up of the store',
      parameters: { tableName: table, path },
    });
    this.name = 'StagedFileMissingException';
    this.path = path;
  }
}
