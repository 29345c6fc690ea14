import { isServiceError } from '../../base/errors.ts';
import { tableGone } from '../../table/lost-tables.ts';
import { missingStagedFile, StagedFileMissingException, type StagedFiles } from '../../table/staged-presence.ts';
import { snapshotById } from '../ancestry.ts';
import type { LoadedMetadata, SwapConflict } from '../pointer/table-pointer.ts';
import { mainBranch } from '../snapshot-state-of.ts';
import type { TableContext } from '../table-context.ts';

type ProofContext = Pick<TableContext, 'name' | 'pointer' | 'files' | 'clock'>;

/**
 * That the files a change of the base builds on are there: a catalog goes on pointing to a folder that was deleted. One look, at the newest
 * manifest list or, of a table without rows, at the metadata file; none where the pointer looks itself.
 *
 * @throws ServiceError `TABLE_GONE` (kind discontinuity) when the base is the newest still, or there is no table any more.
 */
export async function proveBase(context: ProofContext, base: LoadedMetadata | undefined): Promise<SwapConflict | undefined> {
  if (base === undefined || context.pointer.looksAtBase === true) return undefined;
  const witness = newestList(base) ?? base.metadataLocation;
  if (witness === undefined || (await mayBeThere(context.files, witness))) return undefined;
  return passedBase(context, base, witness);
}

/** What it means that a file of the base is missing: others committed, and expired what the base has, or the table is gone. @throws as `proveBase`. */
export async function passedBase(context: ProofContext, base: LoadedMetadata, missing: string): Promise<SwapConflict> {
  const newest = await context.pointer.load(base);
  if (newest !== undefined && newest !== base) return { kind: 'conflicted', reason: `${context.name} was changed meanwhile` };
  throw tableGone(context.name, base.metadata.location, `${missing} does not exist`);
}

/** @throws StagedFileMissingException for a file that was deleted since it was written. */
export async function proveStaged(context: ProofContext, staged: readonly StagedFiles[]): Promise<void> {
  for (const files of staged) {
    const missing = await missingStagedFile(files, {
      monotonicMs: () => context.clock.monotonicMs(),
      isThere: async (path) => (await context.files.head(path)) !== undefined,
    });
    if (missing !== undefined) throw new StagedFileMissingException(context.name, missing);
  }
}

function newestList({ metadata }: LoadedMetadata): string | undefined {
  const id = metadata.refs.get(mainBranch)?.snapshotId ?? metadata.currentSnapshotId;
  return id === undefined ? undefined : snapshotById(metadata, id)?.manifestList;
}

/** What may not be looked at may well be there. */
async function mayBeThere(files: TableContext['files'], location: string): Promise<boolean> {
  try {
    return (await files.head(location)) !== undefined;
  } catch (error) {
    if (isServiceError(error, 'unavailable', 'aborted')) throw error;
    return true;
  }
}
