import { describe, expect, it } from 'vitest';
import { offsetName, timeZoneOf, toInstantMicros, toLocalMicros } from '../../../src/expr/time-zone.ts';

const micros = (text: string): bigint => BigInt(Date.parse(`${text}Z`)) * 1000n;
const text = (value: bigint): string => new Date(Number(value / 1000n)).toISOString().slice(0, 19);

describe('time zones', () => {
  it.each([
    ['Europe/Berlin', 'Europe/Berlin'],
    ['PST', 'America/Los_Angeles'],
    ['EST', '-05:00'],
    ['+2', '+02:00'],
    ['-8', '-08:00'],
    ['+5:30', '+05:30'],
    ['UTC+1', '+01:00'],
    ['GMT+05:30', '+05:30'],
    ['+053015', '+05:30:15'],
    ['UTC', undefined],
    ['Z', undefined],
    ['Etc/GMT', undefined],
    ['+00:00', undefined],
  ])('knows %s', (name, rule) => {
    expect(timeZoneOf(name)).toEqual({ name, rule });
  });

  it.each(['', 'xyz', 'europe/berlin', 'Europe/Nowhere', '+19', '+05:60', 'UTC*1', '+25:00'])('does not know "%s"', (name) => {
    expect(timeZoneOf(name)).toBeUndefined();
  });

  it.each([
    ['Europe/Berlin', '2024-07-01T10:00:00', '2024-07-01T08:00:00'],
    ['Europe/Berlin', '2024-03-31T02:30:00', '2024-03-31T01:30:00'],
    ['Europe/Berlin', '2024-10-27T02:30:00', '2024-10-27T00:30:00'],
    ['Europe/Berlin', '1890-01-01T00:00:00', '1889-12-31T23:06:32'],
    ['Europe/Berlin', '3500-07-01T00:00:00', '3500-06-30T22:00:00'],
    ['America/Los_Angeles', '2024-11-03T01:30:00', '2024-11-03T08:30:00'],
    ['Asia/Kolkata', '2024-01-01T05:30:00', '2024-01-01T00:00:00'],
    ['Pacific/Apia', '2011-12-30T12:00:00', '2011-12-30T22:00:00'],
    ['+05:30', '1850-01-01T00:00:00', '1849-12-31T18:30:00'],
    [undefined, '2024-01-01T00:00:00', '2024-01-01T00:00:00'],
  ])('in %s, %s is %s in UTC', (rule, local, instant) => {
    expect(text(toInstantMicros(micros(local), rule))).toBe(instant);
  });

  it('gives the local time of an instant', () => {
    expect(text(toLocalMicros(micros('2024-03-31T01:00:00'), 'Europe/Berlin'))).toBe('2024-03-31T03:00:00');
    expect(text(toLocalMicros(micros('1880-01-01T00:00:00'), 'America/Los_Angeles'))).toBe('1879-12-31T16:07:02');
  });

  it('names offsets as they are set by an interval', () => {
    expect([36_000_000_000n, -12_600_000_000n, 0n, 68_400_000_000n, 1n].map(offsetName)).toEqual([
      '+10:00',
      '-03:30',
      'Z',
      undefined,
      undefined,
    ]);
  });
});
