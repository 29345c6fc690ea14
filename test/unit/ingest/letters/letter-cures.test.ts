import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { refusalText } from '../../../../src/ingest/letters/judge-letter.ts';
import { cureOf, letterCures } from '../../../../src/ingest/letters/letter-cures.ts';

it('the guide has the cure of every reason', () => {
  const guide = readFileSync(new URL('../../../../docs/guides/dead-letters.md', import.meta.url), 'utf8');
  const [, section = ''] = guide.split('## What to do about it');
  const [cures = ''] = section.split('\n## ');
  const told = [...cures.matchAll(/^\| `([\w-]+)` \| (.*) \|$/gm)].map(([, reason, cure]) => [reason, cure]);
  expect(told).toEqual(Object.entries(letterCures));
});

it('the guide has every refusal of a replay with its cure', () => {
  const guide = readFileSync(new URL('../../../../docs/guides/dead-letters.md', import.meta.url), 'utf8');
  const whys = ['no-id', 'no-table', 'not-whole', 'unopened-batch', 'not-passed', 'accepted', 'too-large'] as const;
  for (const why of whys) expect(guide).toContain(`- \`${why}\`: ${refusalText(why)}\n`);
});

it('a reason of another program has no cure', () => {
  expect(cureOf('constructor')).toBeUndefined();
  expect(cureOf(undefined)).toBeUndefined();
});
