import { fileURLToPath } from 'node:url';
import type { EpochMs } from '../../../base/clock.ts';
import { removeEmptyFolder, surveyFolders } from '../../../storage/local-folders.ts';
import type { ObjectInfo } from '../../../storage/object-store.ts';
import type { OperationContext } from '../operation-context.ts';
import { isConsidered } from './vacuum-listing.ts';

/** Folders of a table on a file system; none in an object store. */
export interface VacuumFolders {
  readonly considered: number;
  /** Empty once the garbage is gone; deepest first. */
  readonly removable: readonly string[];
  /** Removes those that are empty by now; returns them. */
  remove(): Promise<readonly string[]>;
}

const scheme = 'file://';

/** Which folders go with the garbage. One that changed since `deleteBefore` may be about to get a writer's file, and stays. */
export async function vacuumFolders(
  context: OperationContext,
  garbage: readonly ObjectInfo[],
  options: { readonly partitionColumns: readonly string[]; readonly deleteBefore: EpochMs },
  signal?: AbortSignal,
): Promise<VacuumFolders> {
  if (!context.store.root.startsWith(scheme)) return { considered: 0, removable: [], remove: () => Promise.resolve([]) };
  const root = fileURLToPath(context.store.root);
  const paths = new Set(garbage.map((file) => file.path));
  const survey = await surveyFolders(
    root,
    {
      isGarbage: (path) => paths.has(path),
      isConsidered: (path) => isConsidered(path, options.partitionColumns),
      modifiedBefore: options.deleteBefore,
    },
    signal,
  );
  const remove = async (): Promise<readonly string[]> => {
    const removed: string[] = [];
    for (const folder of survey.removable) if (await removeEmptyFolder(root, folder)) removed.push(folder);
    return removed;
  };
  return { ...survey, remove };
}
