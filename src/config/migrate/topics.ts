import { isServiceError } from '../../base/errors.ts';
import { topicMatch } from '../../ingest/topic-pattern.ts';
import { topicNamePattern } from '../../kafka/topic-name.ts';
import type { ConnectorOptions } from './connector-options.ts';
import { invalid } from './read-connector.ts';
import type { PlannedTable } from './sink-plan.ts';

/** Of a route. */
const maxTopics = 256;

export interface SinkTopics {
  readonly topics: readonly string[];
  readonly pattern: PlannedTable['topicPattern'];
  readonly doubts: readonly string[];
}

/** The topics that a sink reads: a list, or an expression. @throws ServiceError `CONFIG_CONNECTOR_INVALID` where it names none. */
export function topicsOf(options: ConnectorOptions): SinkTopics {
  const named = [...new Set(options.takeList('topics'))];
  if (named.length > maxTopics)
    throw invalid(
      `the connector has ${named.length} topics, and a route at most ${maxTopics}`,
      'give topics.regex in their place, or several configurations',
    );
  const regex = options.take('topics.regex');
  const topics = named.filter((topic) => topicNamePattern.test(topic));
  for (const topic of named) if (!topics.includes(topic)) options.note('topics', 'doubtful', `"${topic}" is no name of a topic`);
  if (topics.length === 0 && regex === undefined)
    throw invalid('the connector has neither topics nor topics.regex', 'a sink has one of them; give its whole configuration');
  if (regex === undefined) return { topics, pattern: undefined, doubts: [] };
  return { topics, ...patternOf(options, regex) };
}

function patternOf(options: ConnectorOptions, regex: string): Pick<SinkTopics, 'pattern' | 'doubts'> {
  try {
    topicMatch(regex, new Set());
    return { pattern: { pattern: regex, note: 'topics.regex' }, doubts: [] };
  } catch (error) {
    if (isServiceError(error)) throw error;
    options.note('topics.regex', 'doubtful', `${regex} is an expression of Java that is read otherwise here`);
    const note = 'CHECK: matches nothing; write topics.regex as an expression of JavaScript';
    return { pattern: { pattern: 'topics[.]regex', note }, doubts: ['topics.regex'] };
  }
}

/** What tables are called in the pipeline: the last part of a name where it is the only one of that name. */
export function tableNames(identifiers: readonly string[]): readonly string[] {
  const last = (identifier: string): string => identifier.split('.').at(-1) ?? identifier;
  return distinctNames(
    identifiers.map((identifier) =>
      identifiers.filter((other) => last(other) === last(identifier)).length > 1 ? identifier : last(identifier),
    ),
  );
}

/** Names that tables of the pipeline may have, each another one. */
export function distinctNames(wanted: readonly string[]): readonly string[] {
  const names: string[] = [];
  for (const text of wanted) {
    const name = text
      .replaceAll(/[^a-zA-Z0-9._-]/g, '_')
      .replace(/^[^a-zA-Z0-9_]/, '_')
      .slice(0, 190);
    names.push(names.includes(name) ? `${name}_${names.length + 1}` : name);
  }
  return names;
}
