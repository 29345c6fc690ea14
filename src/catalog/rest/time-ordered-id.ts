import type { EpochMs } from '../../base/clock.ts';

const timeDigits = 12;

/** RFC 9562 version 7 UUID: the time, and the randomness of a version 4 one. */
export function timeOrderedId(now: EpochMs, randomId: string): string {
  const time = now.toString(16).padStart(timeDigits, '0').slice(-timeDigits);
  const digits = `${time}7${randomId.replaceAll('-', '').slice(timeDigits + 1)}`;
  return [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)].join('-');
}
