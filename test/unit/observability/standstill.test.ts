import { expect, it } from 'vitest';
import { Standstill } from '../../../src/observability/standstill.ts';
import { StepClock } from '../../support/step-clock.ts';

function fixture(): { readonly clock: StepClock; readonly standstill: Standstill } {
  const clock = new StepClock();
  return { clock, standstill: new Standstill({ clock, boundMs: 30_000, forgetMs: 90_000 }) };
}

it('is told when failures without a success span the bound, with the last of them', () => {
  const { clock, standstill } = fixture();
  for (const what of ['first', 'second']) {
    standstill.failed(what);
    expect(standstill.detail).toBeUndefined();
    clock.advance(20_000);
  }
  standstill.failed('STORAGE_FULL: no space');
  clock.advance(5_000);
  expect(standstill.detail).toBe('failing for 45 s: STORAGE_FULL: no space');
});

it('ends with the first success, and begins anew', () => {
  const { clock, standstill } = fixture();
  standstill.failed('full');
  clock.advance(40_000);
  standstill.failed('full');
  standstill.succeeded();
  expect(standstill.detail).toBeUndefined();
  standstill.failed('full');
  clock.advance(20_000);
  standstill.failed('full');
  expect(standstill.detail).toBeUndefined();
});

it('is no single failure, however long nothing follows, and over when nothing fails any more', () => {
  const { clock, standstill } = fixture();
  standstill.failed('once');
  clock.advance(89_000);
  expect(standstill.detail).toBeUndefined();
  standstill.failed('again');
  expect(standstill.detail).toBe('failing for 89 s: again');
  clock.advance(91_000);
  expect(standstill.detail).toBeUndefined();
  standstill.failed('much later');
  expect(standstill.detail).toBeUndefined();
});
