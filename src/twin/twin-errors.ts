import { type ServiceError, serviceError } from '../base/errors.ts';
import type { TwinPosition } from '../table/twin.ts';

interface Pair {
  readonly twin: string;
  readonly leader: string;
}

/** The table was there before, with a life of its own. */
export function notATwin({ twin, leader }: Pair): ServiceError {
  return serviceError.invalid('TWIN_NOT_A_TWIN', `table "${twin}" is to be the twin of "${leader}" and is a table of its own`, {
    hint: 'drop it, or give the twin another path or identifier: a twin is made by the pipeline, from its leader',
  });
}

export function changedByOthers(
  { twin }: Pair,
  { snapshotId, operation, lastOwn }: Extract<TwinPosition, { kind: 'changed' }>,
): ServiceError {
  const back = lastOwn === undefined ? 'drop it' : `CALL system.rollback_to_snapshot(table, ${lastOwn}), or drop it`;
  return serviceError.discontinuity(
    'TWIN_CHANGED',
    `table "${twin}" was changed by others: snapshot ${snapshotId} (${operation}) is not of its leader`,
    {
      hint: `${back}; change the rows of the leader, the twin follows`,
      context: { snapshotId },
    },
  );
}

export function leaderReplaced({ twin, leader }: Pair, ids: { readonly known: string; readonly found: string }): ServiceError {
  return serviceError.discontinuity(
    'TWIN_LEADER_REPLACED',
    `table "${leader}" was dropped and created again (id ${ids.known} before, ${ids.found} now), and table "${twin}" shows the former one`,
    {
      hint: 'drop the twin and start again: it is made anew from what the leader is now',
      context: { knownId: ids.known, foundId: ids.found },
    },
  );
}

export function misfits({ twin, leader }: Pair, version: number, why: string): ServiceError {
  return serviceError.unsupported('TWIN_MISFIT', `table "${twin}" cannot show version ${version} of "${leader}": ${why}`, {
    hint: 'change the leader back, or drop the twin and start again: it is made anew with the columns and the partitioning that the leader has now',
    context: { version },
  });
}

export function idsDiffer({ twin, leader }: Pair): ServiceError {
  return serviceError.discontinuity(
    'TWIN_IDS_DIFFER',
    `columns of table "${twin}" have other ids than files of "${leader}" were written with`,
    {
      hint: 'drop the twin and start again: it is made anew with the ids that its leader remembers',
    },
  );
}

export function contended({ twin }: Pair, attempts: number): ServiceError {
  return serviceError.unavailable('TWIN_CONTENTION', `table "${twin}": ${attempts} attempts to follow its leader all lost against others`, {
    hint: 'it is tried again; several replicas follow harmlessly, others must not write to it',
  });
}
