import { isServiceError } from '../../base/errors.ts';
import { mapBounded } from '../../base/map-bounded.ts';
import type { ContentFile } from '../metadata/content-file.ts';
import type { TableContext } from '../table-context.ts';

const deletionsAtOnce = 8;

/** Deletes staged files of a change that certainly failed. Best effort: what stays behind is an orphan that nothing refers to. */
export async function discardFiles(context: Pick<TableContext, 'files'>, files: readonly Pick<ContentFile, 'path'>[]): Promise<void> {
  const paths = [...new Set(files.map(({ path }) => path))];
  await mapBounded(paths, deletionsAtOnce, async (path) => {
    try {
      await context.files.discard(path);
    } catch (error) {
      if (!isServiceError(error)) throw error;
    }
  });
}
