import type { ConfigIssue } from './config-issues.ts';
import type { ConfigPath } from './config-node.ts';
import type { Config } from './settings.ts';

type Feed = Config['feeds'][number];

const beside = ['schemaChanges', 'transactions'] as const;

/** What is wrong with the topics beside the feeds' own, and with how feeds tell that their table is emptied. `taken`: what other topics hold. */
export function feedTopicIssues({ feeds }: Config, taken: ReadonlyMap<string, string>): readonly ConfigIssue[] {
  const issues: ConfigIssue[] = [];
  for (const [index, feed] of feeds.entries()) {
    const report = (path: ConfigPath, message: string): void => {
      issues.push({ code: 'CONFIG_INVALID', path: ['feeds', index, ...path], message });
    };
    for (const setting of beside) {
      const topic = feed[setting]?.topic;
      const problem = topic === undefined ? undefined : besideIssue({ setting, topic }, { feeds, index, taken });
      if (problem !== undefined) report([setting, 'topic'], problem);
    }
    if (feed.truncate === 'event') for (const [setting, message] of truncateIssues(feed)) report([setting], message);
  }
  return issues;
}

function besideIssue(
  { setting, topic }: { readonly setting: (typeof beside)[number]; readonly topic: string },
  { feeds, index, taken }: { readonly feeds: readonly Feed[]; readonly index: number; readonly taken: ReadonlyMap<string, string> },
): string | undefined {
  const holds = taken.get(topic) ?? heldByFeeds(feeds, topic, setting);
  if (holds !== undefined) return `"${topic}" ${holds}`;
  const earlier = feeds.slice(0, index).filter((other) => other[setting]?.topic === topic);
  const [feed] = feeds.slice(index);
  const twin = setting === 'transactions' ? earlier.find(({ table }) => table === feed?.table) : undefined;
  if (twin !== undefined)
    return `"${topic}" has the transactions of another feed of table "${twin.table}", which have the same ids; name another topic`;
  const other = earlier.find((one) => feed !== undefined && encodingOf(one) !== encodingOf(feed));
  return other === undefined
    ? undefined
    : `"${topic}" is that of feed "${other.name}", too, whose records are encoded otherwise; name another topic`;
}

function heldByFeeds(feeds: readonly Feed[], topic: string, setting: (typeof beside)[number]): string | undefined {
  if (feeds.some((feed) => feed.topic === topic)) return 'is the topic of a feed’s rows';
  if (feeds.some((feed) => feed.heartbeatTopic === topic)) return 'is the topic of heartbeats';
  const [other] = beside.filter((name) => name !== setting);
  return feeds.some((feed) => other !== undefined && feed[other]?.topic === topic) ? `is the topic of ${other}` : undefined;
}

function encodingOf({ schemas, records: { encoding, keyEncoding = encoding } }: Feed): string {
  return [schemas, encoding, keyEncoding].join();
}

function truncateIssues({ envelope, partitions, topicConfig }: Feed): readonly (readonly [string, string])[] {
  const found: (readonly [string, string])[] = [];
  if (envelope === 'flat' || envelope === 'after')
    found.push(['truncate', `envelope ${envelope} has no event of a truncation; leave it out, or take debezium or cloudevents`]);
  if (partitions > 1)
    found.push([
      'partitions',
      'a truncation is about the whole table, and between partitions there is no order: truncate: event needs one partition',
    ]);
  if (topicConfig['cleanup.policy']?.includes('compact') === true)
    found.push(['topicConfig', 'a truncation has no key, which a compacted topic refuses; leave truncate: event out']);
  return found;
}
