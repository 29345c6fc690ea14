import { throwIfAborted } from '../../base/abort.ts';
import { isServiceError } from '../../base/errors.ts';
import { mapBounded } from '../../base/map-bounded.ts';
import type { TableFiles } from '../table-files.ts';

const defaultDeletesAtOnce = 8;

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
