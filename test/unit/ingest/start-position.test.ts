import { describe, expect, it } from 'vitest';
import { decideStart, type StartFacts } from '../../../src/ingest/start-position.ts';

const facts = (changes: Partial<StartFacts>): StartFacts => ({
  mark: 'new-topic',
  earliest: 10n,
  latest: 100n,
  startFrom: 'earliest',
  policy: 'fail',
  ...changes,
});

describe('the start position of a partition', () => {
  it('is the table’s mark when the topic holds it, ends included', () => {
    for (const mark of [10n, 55n, 100n]) {
      expect(decideStart(facts({ mark }))).toEqual({ kind: 'start', offset: mark, expectedMark: mark, settleFirst: false });
    }
  });

  it('follows startFrom only for a topic the table knows nothing of; the end is settled before anything is read', () => {
    const start = { kind: 'start', expectedMark: undefined };
    expect(decideStart(facts({}))).toEqual({ ...start, offset: 10n, settleFirst: false });
    expect(decideStart(facts({ startFrom: 'latest' }))).toEqual({ ...start, offset: 100n, settleFirst: true });
    expect(decideStart(facts({ mark: 'added-partition', startFrom: 'latest' }))).toEqual({ ...start, offset: 10n, settleFirst: false });
  });

  it.each([
    ['retention passed the mark', facts({ mark: 9n }), '1 records were removed before they were read'],
    ['the topic lost its end', facts({ mark: 101n }), 'the topic lost its end'],
    ['the topic was created again', facts({ mark: 'other-incarnation' }), 'another incarnation of the topic'],
  ])('is a discontinuity under the default policy when %s', (_, given, text) => {
    const decision = decideStart(given);
    expect(decision.kind).toBe('discontinuity');
    expect(decision.kind === 'discontinuity' ? decision.detail : '').toContain(text);
  });

  it.each([
    ['reset-to-earliest', 9n, 10n],
    ['reset-to-latest', 9n, 100n],
    ['accept', 9n, 10n],
    ['reset-to-earliest', 101n, 10n],
    ['reset-to-latest', 101n, 100n],
    ['accept', 101n, 100n],
  ] as const)('under %s with mark %s is %s and still expects the old mark in the commit', (policy, mark, offset) => {
    expect(decideStart(facts({ policy, mark }))).toEqual({ kind: 'start', offset, expectedMark: mark, settleFirst: true });
  });

  it('begins a ledger of its own for a new incarnation the operator accepted', () => {
    expect(decideStart(facts({ policy: 'accept', mark: 'other-incarnation' }))).toEqual({
      kind: 'start',
      offset: 10n,
      expectedMark: undefined,
      settleFirst: true,
    });
  });
});
