import { expect, it } from 'vitest';
import { type FeedEvent, type FeedState, nextFeedState } from '../../../src/cdf/feed-state.ts';

const states: readonly FeedState[] = [
  'opening',
  'bootstrapping',
  'following',
  'publishing',
  'gap',
  'lost',
  'replaced',
  'changed',
  'waiting',
  'paused',
  'fenced',
  'failed',
  'stopped',
];

it('ends for good in fenced, failed and stopped', () => {
  const events: readonly FeedEvent[] = [
    'at-snapshot',
    'at-changes',
    'run',
    'rejected',
    'gap',
    'lost',
    'replaced',
    'changed',
    'fenced',
    'failed',
    'stop',
  ];
  for (const state of ['fenced', 'failed', 'stopped'] as const) {
    for (const event of events) expect(() => nextFeedState(state, event)).toThrow(`feed state ${state} has no transition for ${event}`);
  }
});

it('can be stopped, fenced and fail in every other state', () => {
  for (const state of states.slice(0, 10)) {
    expect(nextFeedState(state, 'stop')).toBe('stopped');
    expect(nextFeedState(state, 'fenced')).toBe('fenced');
    expect(nextFeedState(state, 'failed')).toBe('failed');
  }
});

it('opens again after a rejected transaction, never goes on with the same producer', () => {
  expect(nextFeedState('publishing', 'rejected')).toBe('opening');
  expect(() => nextFeedState('publishing', 'run')).toThrow();
  expect(() => nextFeedState('opening', 'run')).toThrow();
});
