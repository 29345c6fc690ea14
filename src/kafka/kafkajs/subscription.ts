import { type ServiceError, serviceError } from '../../base/errors.ts';
import type { ConsumerOptions } from '../client.ts';
import type { KafkaConnection } from './kafkajs-connection.ts';

const defaultListEveryMs = 30_000;

/** The topics of a consumer: those that it names, and those that match as they come and go. */
export class Subscription {
  readonly #connection: KafkaConnection;
  readonly #options: Pick<ConsumerOptions, 'topics' | 'matching' | 'groupId'>;
  #matched: readonly string[] = [];
  /** All that ever matched; `undefined` before the first look. */
  #seen: Set<string> | undefined;
  #appeared: readonly string[] = [];
  #listAtMs = Number.NEGATIVE_INFINITY;

  constructor(connection: KafkaConnection, options: Pick<ConsumerOptions, 'topics' | 'matching' | 'groupId'>) {
    this.#connection = connection;
    this.#options = options;
  }

  /** All of them, as last looked for. */
  get topics(): readonly string[] {
    return this.#matched.length === 0 ? this.#options.topics : [...this.#options.topics, ...this.#matched];
  }

  /** Named topics that did not exist when last looked for. */
  get missing(): readonly string[] {
    return this.#options.topics.filter((topic) => this.#connection.topic(topic) === undefined);
  }

  /** Topics that match and did not when the consumer began, since the last time. */
  takeAppeared(): readonly string[] {
    const appeared = this.#appeared;
    this.#appeared = [];
    return appeared;
  }

  /** Asks for the topics, and now and then which there are. Rejects with `KAFKA_TOPICS_TOO_MANY`, and as `KafkaConnection.look`. */
  async look(): Promise<void> {
    const { matching } = this.#options;
    if (matching !== undefined) await this.#list(matching);
    await this.#connection.look(this.topics);
  }

  async #list(matching: NonNullable<ConsumerOptions['matching']>): Promise<void> {
    const { maxTopics, everyMs = defaultListEveryMs } = matching;
    const nowMs = this.#connection.clock.monotonicMs();
    if (nowMs < this.#listAtMs) return;
    const named = new Set(this.#options.topics);
    const matched = [...(await this.#connection.partitionCounts()).keys()]
      .filter((topic) => !named.has(topic) && matching.test(topic))
      .toSorted();
    if (matched.length > maxTopics) throw tooMany(this.#options.groupId, matched.length, maxTopics);
    const seen = this.#seen ?? new Set(matched);
    this.#seen = seen;
    const appeared = matched.filter((topic) => !seen.has(topic));
    for (const topic of appeared) seen.add(topic);
    this.#appeared = [...this.#appeared, ...appeared];
    this.#matched = matched;
    this.#listAtMs = nowMs + everyMs;
  }
}

function tooMany(groupId: string, count: number, most: number): ServiceError {
  return serviceError.invalid('KAFKA_TOPICS_TOO_MANY', `group "${groupId}": ${count} topics match its pattern, at most ${most} are read`, {
    hint: 'narrow ingest.routes[].topicPattern, or divide the topics among routes',
  });
}
