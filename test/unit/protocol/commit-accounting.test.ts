import { describe, expect, it } from 'vitest';
import { parseAccounting, printAccounting } from '../../../src/protocol/commit-accounting.ts';
import { parseWriterId, writerIdOf, writerIdPrefix } from '../../../src/protocol/source-offsets.ts';

describe('commit accounting', () => {
  it('survives printing and parsing with offsets past 2^53', () => {
    const accounting = {
      pipeline: 'p',
      ranges: [{ topic: 't', partition: 3, from: 9_007_199_254_740_993n, until: 9_223_372_036_854_775_807n }],
      records: 5,
      rows: 3,
      deadLettered: 1,
      filtered: 1,
    };
    expect(parseAccounting(printAccounting(accounting))).toEqual(accounting);
  });

  it('is absent from the metadata of other writers', () => {
    expect(parseAccounting(undefined)).toBeUndefined();
    expect(parseAccounting('nightly load')).toBeUndefined();
    expect(parseAccounting('{"tidewater":{"ranges":[{"topic":1}]}}')).toBeUndefined();
  });
});

describe('a writer id', () => {
  const source = { pipeline: 'p', clusterId: 'c', topic: 't.x', topicId: 'abc' };

  it('names pipeline, partition and incarnation, and parses back', () => {
    expect(parseWriterId(writerIdOf(source, 7), 'p')).toEqual({ ...source, partition: 7 });
    expect(parseWriterId(writerIdOf(source, 7), 'other')).toBeUndefined();
    expect(parseWriterId('txn-of-spark', 'p')).toBeUndefined();
  });

  it('shares its prefix with every incarnation of the same partition and with no other partition', () => {
    expect(writerIdOf({ ...source, topicId: 'later' }, 1).startsWith(writerIdPrefix('p', 't.x', 1))).toBe(true);
    expect(writerIdOf(source, 11).startsWith(writerIdPrefix('p', 't.x', 1))).toBe(false);
  });
});
