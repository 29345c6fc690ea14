import { expect, it } from 'vitest';
import { nearestName } from '../../../src/base/nearest-name.ts';

const names = ['maxBatchRows', 'maxBatchBytes', 'workers', 'routes', 'port'];

it.each([
  ['maxBatchRow', 'maxBatchRows'],
  ['MAXBATCHROWS', 'maxBatchRows'],
  ['wrokers', 'workers'],
  ['route', 'routes'],
  ['prot', 'port'],
])('%s was meant to be %s', (name, meant) => {
  expect(nearestName(name, names)).toBe(meant);
});

it('nothing is suggested when nothing is near', () => {
  expect(nearestName('completelyDifferent', names)).toBeUndefined();
  expect(nearestName('x', [])).toBeUndefined();
});

it('a very long name costs little', () => {
  expect(nearestName('x'.repeat(1_000_000), names)).toBeUndefined();
});
