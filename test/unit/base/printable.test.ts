import { expect, it } from 'vitest';
import { printable, printableLine } from '../../../src/base/printable.ts';

const hostile = 'a\u001b]0;title\u0007\u009b2J\u007f\u202ecba\u2066\u200f';
const shown = 'a\\u001b]0;title\\u0007\\u009b2J\\u007f\\u202ecba\\u2066\\u200f';

it('control characters and overrides of direction are shown as escapes', () => {
  expect(printable(`${hostile}\n\t`)).toBe(`${shown}\n\t`);
  expect(printableLine(`${hostile}\n\t\r`)).toBe(`${shown}\\u000a\\u0009\\u000d`);
});

it('what JSON reads is the same text', () => {
  expect(JSON.parse(printableLine(JSON.stringify({ hostile })))).toEqual({ hostile });
});

it('letters of all scripts and signs beyond 16 bits are left as they are', () => {
  const text = 'é ñ 日本 שלום العربية 🛩️';
  expect(printable(text)).toBe(text);
});
