import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseByteSize, parseDuration, printByteSize, printDuration } from '../../../src/base/quantities.ts';

describe('durations', () => {
  it.each([
    ['0', 0],
    ['500ms', 500],
    ['30s', 30_000],
    ['1.5h', 5_400_000],
    ['5 m', 300_000],
    ['7d', 604_800_000],
    ['2W', 1_209_600_000],
  ])('%s', (text, durationMs) => {
    expect(parseDuration(text)).toBe(durationMs);
  });

  it.each(['', '5', 'ms', '-1s', '1y', '1e3s', '1s2', '999999999999999w', '0x5s'])('"%s" is refused', (text) => {
    expect(() => parseDuration(text)).toThrow(expect.objectContaining({ code: 'DURATION_INVALID', kind: 'invalid' }));
  });
});

describe('sizes', () => {
  it.each([
    ['0', 0],
    ['512B', 512],
    ['64KiB', 65_536],
    ['1.5 MiB', 1_572_864],
    ['1GB', 1_000_000_000],
    ['1tib', 2 ** 40],
  ])('%s', (text, sizeBytes) => {
    expect(parseByteSize(text)).toBe(sizeBytes);
  });

  it.each(['', '64', 'MiB', '-1MiB', '64Mi', '99999999999TiB'])('"%s" is refused', (text) => {
    expect(() => parseByteSize(text)).toThrow(expect.objectContaining({ code: 'BYTE_SIZE_INVALID', kind: 'invalid' }));
  });
});

it('what is printed reads back as the same value', () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), (value) => {
      fc.pre(value < 1e15);
      expect(parseDuration(printDuration(value))).toBe(value);
      expect(parseByteSize(printByteSize(value))).toBe(value);
    }),
  );
  expect([printDuration(90_000), printDuration(3_600_000), printByteSize(67_108_864), printDuration(0)]).toEqual([
    '90s',
    '1h',
    '64MiB',
    '0ms',
  ]);
});
