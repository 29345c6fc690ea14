import { throwIfAborted } from '../../base/abort.ts';
import { isServiceError } from '../../base/errors.ts';
import { mapBounded } from '../../base/map-bounded.ts';
import { notDeletable } from '../location.ts';
import type { TableContext } from '../table-context.ts';
import type { TableFiles } from '../table-files.ts';

const defaultDeletesAtOnce = 8;

/**
 * Looks before an operation begins whether it may delete what it would.
 *
 * @throws ServiceError `FILE_OUTSIDE_TABLE` (invalid), which lists what the table's metadata alone says is the table's.
 */
export function refuseForeign({ name, files }: Pick<TableContext, 'name' | 'files'>, locations: Iterable<string>): void {
  const foreign = files.notDeletable(locations);
  if (foreign.length > 0) throw notDeletable(name, foreign);
}

/**
 * Deletes files that nothing refers to; one that is gone already counts as deleted. What cannot be deleted stays an orphan.
 *
 * @returns those that are gone.
 */
export async function deleteFiles(
  files: TableFiles,
  locations: Iterable<string>,
  options: { readonly atOnce?: number | undefined; readonly signal?: AbortSignal | undefined } = {},
): Promise<readonly string[]> {
  const { atOnce = defaultDeletesAtOnce, signal } = options;
  const outcomes = await mapBounded([...locations], atOnce, async (location) => {
    throwIfAborted(signal);
    try {
      await files.delete(location, signal);
      return [location];
    } catch (error) {
      if (!isServiceError(error) || error.kind === 'aborted') throw error;
      return error.kind === 'not-found' ? [location] : [];
    }
  });
  return outcomes.flat();
}
