import { describe, expect, it } from 'vitest';
import { load, loadError } from './config-support.ts';

const table = (name: string): string => `{ name: ${name}, columns: [{ name: id, type: long }] }`;
const settings = (feeds: readonly string[], more = ''): string =>
  `pipeline: p\ntables: [${table('t')}, ${table('u')}]\n${more}feeds:\n${feeds.map((feed) => `  - ${feed}\n`).join('')}`;

describe('topics beside the feeds’ own', () => {
  it('may be shared by feeds of several tables, and come from the defaults', () => {
    const yaml = settings(
      ['{ table: t }', '{ table: u, truncate: event }'],
      'feedDefaults: { schemaChanges: { topic: s }, transactions: { topic: x } }\n',
    );
    const { config } = load({ yaml });
    expect(config.feeds.map(({ schemaChanges, transactions, truncate }) => [schemaChanges?.topic, transactions?.topic, truncate])).toEqual([
      ['s', 'x', 'rows'],
      ['s', 'x', 'event'],
    ]);
  });

  it.each([
    [['{ table: t, schemaChanges: { topic: cdf.t } }'], /schemaChanges\.topic: "cdf\.t" is the topic of a feed’s rows/],
    [['{ table: t, transactions: { topic: cdf._positions } }'], /transactions\.topic: .* is the topic of the feeds’ positions/],
    [['{ table: t, transactions: { topic: cdf._heartbeats } }'], /transactions\.topic: .* is the topic of heartbeats/],
    [['{ table: t, schemaChanges: { topic: s }, transactions: { topic: s } }'], /schemaChanges\.topic: "s" is the topic of transactions/],
    [
      ['{ table: t, transactions: { topic: x } }', '{ table: t, name: n, transactions: { topic: x } }'],
      /feeds\[1\]\.transactions\.topic: .* another feed of table "t", which have the same ids/,
    ],
    [
      ['{ table: t, schemaChanges: { topic: s } }', '{ table: u, schemas: true, schemaChanges: { topic: s } }'],
      /feeds\[1\]\.schemaChanges\.topic: .* whose records are encoded otherwise/,
    ],
    [['{ table: t, schemaChanges: { name: s } }'], /feeds\[0\]\.schemaChanges/],
  ] as const)('%j are refused', (feeds, problem) => {
    expect(loadError({ yaml: settings(feeds) }).message).toMatch(problem);
  });
});

it.each([
  ['{ table: t, truncate: event, envelope: flat }', /feeds\[0\]\.truncate: envelope flat has no event of a truncation/],
  ['{ table: t, truncate: event, partitions: 2 }', /feeds\[0\]\.partitions: .* needs one partition/],
  ['{ table: t, truncate: event, topicConfig: { cleanup.policy: compact } }', /feeds\[0\]\.topicConfig: .* compacted topic refuses/],
])('a truncation as an event is refused where it cannot be told: %s', (feed, problem) => {
  expect(loadError({ yaml: settings([feed]) }).message).toMatch(problem);
});
