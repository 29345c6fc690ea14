import type { TopicMatch } from '../kafka/client.ts';
import { wholePattern } from './whole-pattern.ts';

/** More topics behind one pattern are refused. */
const maxMatchedTopics = 1_000;

/** What a route's pattern matches: whole names, none of `own`, which the pipeline writes itself. @throws SyntaxError for what is no regular expression. */
export function topicMatch(pattern: string, own: ReadonlySet<string>): TopicMatch {
  const expression = wholePattern(pattern);
  return { test: (topic) => !own.has(topic) && !topic.startsWith('__') && expression.test(topic), maxTopics: maxMatchedTopics };
}
