import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { cureOf, letterCures } from '../../../../src/ingest/letters/letter-cures.ts';

it('the guide has the cure of every reason', () => {
  const guide = readFileSync(new URL('../../../../docs/guides/dead-letters.md', import.meta.url), 'utf8');
  const told = [...guide.matchAll(/^\| `([\w-]+)` \| (.*) \|$/gm)].map(([, reason, cure]) => [reason, cure]);
  expect(told).toEqual(Object.entries(letterCures));
});

it('a reason of another program has no cure', () => {
  expect(cureOf('constructor')).toBeUndefined();
  expect(cureOf(undefined)).toBeUndefined();
});
