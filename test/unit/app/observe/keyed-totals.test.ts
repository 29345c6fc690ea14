import { expect, it } from 'vitest';
import { KeyedTotals } from '../../../../src/app/observe/keyed-totals.ts';
import { type CommittedBatch, silentCommitObserver } from '../../../../src/commit/commit-observer.ts';
import { toVersion } from '../../../../src/table/version.ts';
import { SimulatedClock } from '../../../support/simulated-clock.ts';

const nothing = {
  files: [],
  rejects: [],
  rowCount: 0,
  recordsWithRows: 0,
  recordsByTopic: {},
  passedOver: {},
  unmet: {},
  unreadMembers: 0,
};
const staged = { ...nothing, timings: { decodeMs: 0, transformMs: 0, encodeMs: 0, storeMs: 0 } };

it('sums of a keyed table go over all its commits, and the last lookup is that of the newest', () => {
  const clock = new SimulatedClock();
  const totals = new KeyedTotals(clock);
  const heard: CommittedBatch[] = [];
  const observer = totals.counting({ ...silentCommitObserver, committed: (commit) => void heard.push(commit) });
  expect(totals.status).toEqual({ insertedRows: 0, updatedRows: 0, deletedRows: 0, lateKeys: 0, lastLookup: undefined });
  const commit = { version: toVersion(1), staged, deadLettered: 0, filtered: 0, commitMs: 1 };
  const first = { ...commit, applied: { insertedRows: 1, updatedRows: 2, deletedRows: 3, lateKeys: 4, filesLookedAt: 5, lookupMs: 6.4 } };
  const second = {
    ...commit,
    applied: { insertedRows: 10, updatedRows: 20, deletedRows: 30, lateKeys: 40, filesLookedAt: 7, lookupMs: 8.6 },
  };
  // The last one landed without its lookup being known.
  for (const each of [first, second, commit]) observer.committed(each);
  expect(totals.status).toEqual({
    ...{ insertedRows: 11, updatedRows: 22, deletedRows: 33, lateKeys: 44 },
    lastLookup: { at: new Date(clock.now()).toISOString(), durationMs: 9, filesLookedAt: 7 },
  });
  expect(heard).toEqual([first, second, commit]);
});
