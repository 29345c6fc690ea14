import { describe, expect, it } from 'vitest';
import { CommittedRanges } from '../../../../src/ingest/letters/committed-ranges.ts';
import { printAccounting } from '../../../../src/protocol/commit-accounting.ts';

/** A version that covers offsets of the partition 0 of the topic `orders`. */
const version = (from: bigint, until: bigint, deadLettered: number, pipeline = 'p'): { readonly userMetadata: string } => ({
  userMetadata: printAccounting({
    pipeline,
    ranges: [{ topic: 'orders', partition: 0, from, until }],
    ...{ records: 1, rows: 1 - deadLettered, deadLettered, filtered: 0 },
  }),
});

describe('what commits say of source offsets', () => {
  it.each([
    ['in their order', [version(20n, 30n, 0), { userMetadata: 'by others' }, version(10n, 20n, 2), version(5n, 8n, 0)]],
    [
      'of a table that was put back, the newest of an offset',
      [version(20n, 30n, 0), version(10n, 20n, 2), version(5n, 8n, 0), version(5n, 30n, 1)],
    ],
  ])('%s', (what, versions) => {
    const ranges = new CommittedRanges([...versions, version(0n, 5n, 0, 'another')], 'p');
    const said = (offset: bigint): boolean | undefined => ranges.hasNoLetters('orders', 0, offset);
    const between = what.startsWith('in') ? undefined : false;
    expect([4n, 5n, 7n, 8n, 10n, 19n, 20n, 29n, 30n].map(said)).toEqual([
      undefined,
      true,
      true,
      between,
      false,
      false,
      true,
      true,
      undefined,
    ]);
    expect([ranges.hasNoLetters('orders', 1, 5n), ranges.hasNoLetters('other', 0, 5n)]).toEqual([undefined, undefined]);
  });
});
