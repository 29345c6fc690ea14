import type { Action } from '../actions.ts';
import { rowTrackingDomain } from './row-tracking.ts';

/**
 * Which commits of others a transaction tolerates before it. `SnapshotIsolation`: whatever adds rows; `WriteSerializable`: appends that
 * read nothing.
 */
export type IsolationLevel = 'Serializable' | 'WriteSerializable' | 'SnapshotIsolation';

/** A commit that changes no row runs at snapshot isolation, every other one as the table says. */
export function isolationLevelOf(actions: readonly Action[], properties: Readonly<Record<string, string>>): IsolationLevel {
  const rewriteOnly = actions.every((action) => {
    if (action.kind === 'add' || action.kind === 'remove') return !action.dataChange;
    return action.kind === 'domainMetadata' && action.domain === rowTrackingDomain;
  });
  if (rewriteOnly) return 'SnapshotIsolation';
  return properties['delta.isolationLevel']?.toLowerCase() === 'writeserializable' ? 'WriteSerializable' : 'Serializable';
}
