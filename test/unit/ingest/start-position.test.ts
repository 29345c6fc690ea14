import { describe, expect, it } from 'vitest';
import { decideStart, type StartFacts } from '../../../src/ingest/start-position.ts';

const facts = (changes: Partial<StartFacts>): StartFacts => ({
  mark: undefined,
  otherIncarnation: false,
  earliest: 10n,
  latest: 100n,
  startFrom: 'earliest',
  policy: 'fail',
  ...changes,
});

describe('the start position of a partition', () => {
  it('is the table’s mark when the topic holds it, ends included', () => {
    for (const mark of [10n, 55n, 100n]) {
      expect(decideStart(facts({ mark }))).toEqual({ kind: 'start', offset: mark, expectedMark: mark });
    }
  });

  it('follows startFrom only for a table without a mark', () => {
    expect(decideStart(facts({}))).toEqual({ kind: 'start', offset: 10n, expectedMark: undefined });
    expect(decideStart(facts({ startFrom: 'latest' }))).toEqual({ kind: 'start', offset: 100n, expectedMark: undefined });
  });

  it.each([
    ['retention passed the mark', facts({ mark: 9n }), '1 records were removed before they were read'],
    ['the topic lost its end', facts({ mark: 101n }), 'the topic lost its end'],
    ['the topic was created again', facts({ otherIncarnation: true }), 'another incarnation of the topic'],
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
    expect(decideStart(facts({ policy, mark }))).toEqual({ kind: 'start', offset, expectedMark: mark });
  });

  it('begins a ledger of its own for a new incarnation the operator accepted', () => {
    expect(decideStart(facts({ policy: 'accept', otherIncarnation: true }))).toEqual({
      kind: 'start',
      offset: 10n,
      expectedMark: undefined,
    });
  });
});
