import { describe, expect, it } from 'vitest';
import { explodingGroup } from '../../../src/ingest/whole-pattern.ts';

describe('patterns of topics', () => {
  it.each([
    ['(a+)+$', '(a+)+'],
    ['x(?:a|a)*', '(?:a|a)*'],
    ['((ab?)c){2,}', '((ab?)c){'],
    ['(a{1,9})*', '(a{1,9})*'],
  ])('that explode are found: %s', (pattern, group) => {
    expect(explodingGroup(pattern)).toBe(group);
  });

  it.each(['shop\\..*', '(orders|payments)-\\d+', '([0-9]{4}-)+x', '(?<=a)b', '[(+]+', '(a\\+)+', '([*+|])+', '(a+)?', '(a+){3}'])(
    'that do not are taken: %s',
    (pattern) => {
      expect(explodingGroup(pattern)).toBeUndefined();
    },
  );
});
