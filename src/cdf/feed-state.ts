import { serviceError } from '../base/errors.ts';

/** docs/spec/feed-state-machine.md; the table below is that page's table. */
export type FeedState =
  | 'opening'
  | 'paused'
  | 'bootstrapping'
  | 'following'
  | 'publishing'
  | 'gap'
  | 'lost'
  | 'replaced'
  | 'table-replaced'
  | 'table-gone'
  | 'changed'
  | 'waiting'
  | 'fenced'
  | 'failed'
  | 'stopped';

/** States in which a feed publishes nothing until somebody acts; one that was fenced goes by what the group says. */
export const standstills: readonly FeedState[] = ['gap', 'lost', 'replaced', 'table-replaced', 'table-gone', 'changed', 'failed'];

export type FeedEvent =
  /** The position is known and lies inside a snapshot (or a snapshot is to begin). */
  | 'at-snapshot'
  /** The position is known and changes are next. */
  | 'at-changes'
  /** A run is encoded and its transaction begins. */
  | 'run'
  /** The broker refused the transaction or did not say what became of it, or a topic is not the one it was. */
  | 'rejected'
  /** An operator paused the feed. */
  | 'paused'
  /** Versions the feed needs are gone. */
  | 'gap'
  /** The positions topic has no position although the feed's topic was published to. */
  | 'lost'
  /** The feed's topic is not the one that was published to. */
  | 'replaced'
  /** Another table has the name of the one that was published. */
  | 'table-replaced'
  /** There is no table any more. */
  | 'table-gone'
  /** The settings, or the table, do not go on as what is published. */
  | 'changed'
  /** The registry does not take, or have, the schema of what comes next; it is asked again. */
  | 'waits'
  /** A newer instance of the feed took over. */
  | 'fenced'
  /** An error that retrying does not cure. */
  | 'failed'
  /** The operator stopped the feed. */
  | 'stop';

const placed = { 'at-snapshot': 'bootstrapping', 'at-changes': 'following' } as const;
const going = { waits: 'waiting', run: 'publishing', rejected: 'opening', gap: 'gap', changed: 'changed' } as const;
const tableLost = { 'table-replaced': 'table-replaced', 'table-gone': 'table-gone' } as const;
const ends = { ...tableLost, fenced: 'fenced', failed: 'failed', stop: 'stopped' } as const;

/** Total: a forgotten cell is a compile error. `undefined` marks what cannot happen. */
const transitions: Readonly<Record<FeedState, Readonly<Record<FeedEvent, FeedState | undefined>>>> = {
  opening: cells({ ...placed, paused: 'paused', gap: 'gap', lost: 'lost', replaced: 'replaced', changed: 'changed', ...ends }),
  bootstrapping: cells({ 'at-snapshot': 'bootstrapping', ...going, ...ends }),
  following: cells({ 'at-changes': 'following', ...going, ...ends }),
  publishing: cells({ ...placed, rejected: 'opening', ...ends }),
  waiting: cells({ ...placed, waits: 'waiting', rejected: 'opening', gap: 'gap', changed: 'changed', ...ends }),
  // Whoever resumes it, or resets it, makes it open again.
  paused: cells({ ...ends }),
  changed: cells({ ...ends }),
  // With the policy `fail` the feed stays here until an operator changes the policy or the feed.
  gap: cells({ ...placed, ...ends }),
  lost: cells({ ...placed, ...ends }),
  replaced: cells({ ...placed, ...ends }),
  'table-replaced': cells({ ...placed, ...ends }),
  'table-gone': cells({ ...ends }),
  fenced: cells({}),
  failed: cells({}),
  stopped: cells({}),
};

function cells(known: Partial<Record<FeedEvent, FeedState>>): Record<FeedEvent, FeedState | undefined> {
  return {
    'at-snapshot': known['at-snapshot'],
    'at-changes': known['at-changes'],
    run: known.run,
    rejected: known.rejected,
    paused: known.paused,
    gap: known.gap,
    lost: known.lost,
    replaced: known.replaced,
    'table-replaced': known['table-replaced'],
    'table-gone': known['table-gone'],
    changed: known.changed,
    waits: known.waits,
    fenced: known.fenced,
    failed: known.failed,
    stop: known.stop,
  };
}

/** @throws ServiceError `FEED_STATE_INVALID` (kind internal) for a cell that cannot happen. */
export function nextFeedState(state: FeedState, event: FeedEvent): FeedState {
  const next = transitions[state][event];
  if (next === undefined) {
    throw serviceError.internal('FEED_STATE_INVALID', `feed state ${state} has no transition for ${event}`);
  }
  return next;
}
