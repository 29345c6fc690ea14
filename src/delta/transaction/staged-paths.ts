import type { Action } from '../actions.ts';
import { deletionVectorPath } from '../deletion-vectors/deletion-vector-path.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';

/**
 * Files of the table's own folder that the actions refer to and `base` does not: data, deletion vectors and recorded changes. What a clone refers to
 * elsewhere is no file of the table.
 */
export function stagedPaths(base: DeltaSnapshot, actions: readonly Action[]): readonly string[] {
  const paths = new Set<string>();
  const kept = new Set<string>();
  for (const action of actions) {
    if (action.kind !== 'add' && action.kind !== 'cdc' && action.kind !== 'remove') continue;
    const vector = action.kind === 'cdc' || action.deletionVector === undefined ? undefined : deletionVectorPath(action.deletionVector);
    // A file that gets another deletion vector is removed and added in one version; a vector that stays, too.
    const into = action.kind === 'remove' ? kept : paths;
    if (!isElsewhere(action.storedPath)) into.add(action.storedPath);
    if (vector !== undefined) into.add(vector);
  }
  return [...paths].filter((path) => !kept.has(path) && base.file(path) === undefined);
}

function isElsewhere(storedPath: string): boolean {
  return /^([a-z][a-z0-9+.-]*:|\/)/i.test(storedPath);
}
