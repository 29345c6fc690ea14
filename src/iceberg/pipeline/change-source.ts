import type { ScratchFiles } from '../../rows/files/scratch-files.ts';
import type { ChangeFile, ChangesRequest, HeldChanges } from '../../table/changes.ts';
import type { TableContext } from '../table-context.ts';

/** What reading changes works with. */
export interface ChangeSource {
  readonly context: TableContext;
  readonly scratch: ScratchFiles;
  /** Settings of the store that the table's files are in, for whoever opens it elsewhere. */
  readonly storage?: ChangeFile['storage'];
  readonly filter?: ChangesRequest['filter'];
}

/** Files for whoever reads changes, with what lets go of those made for it. */
export type FeedFiles = Pick<HeldChanges, 'files' | 'release' | 'empties'>;
