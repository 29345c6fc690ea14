import type { TopicsChange } from '../client.ts';
import type { KafkaConnection } from './kafkajs-connection.ts';
import type { Subscription } from './subscription.ts';

/** Compares topics with what they were when a generation began. */
export class TopicWatch {
  readonly #connection: KafkaConnection;
  readonly #subscription: Subscription;
  readonly #shape: string;
  #hurry = new AbortController();

  /** Takes the topics as the connection knows them now. */
  constructor(connection: KafkaConnection, subscription: Subscription) {
    this.#connection = connection;
    this.#subscription = subscription;
    this.#shape = this.#presentShape();
  }

  get isHurried(): boolean {
    return this.#hurry.signal.aborted;
  }

  /** A fetch met trouble that a change of the topics would explain: looks at once. */
  hurry(): void {
    this.#hurry.abort();
  }

  /** Resolves when it is time for another look; rejects when `signal` fires. */
  async rest(intervalMs: number, signal: AbortSignal): Promise<void> {
    const hurried = this.#hurry.signal;
    await this.#connection.clock.sleep(intervalMs, AbortSignal.any([signal, hurried])).catch((error: unknown) => {
      if (signal.aborted || !hurried.aborted) throw error;
    });
  }

  /** Asks for the topics; `undefined` when they are what they were. `readIdOf` tells from which incarnation a topic is being read. */
  async look(readIdOf: (topic: string) => string | undefined): Promise<TopicsChange | undefined> {
    this.#hurry = new AbortController();
    await this.#subscription.look();
    const { missing, topics } = this.#subscription;
    const replaced = topics.filter((topic) => {
      const present = this.#connection.topic(topic)?.topicId;
      const read = readIdOf(topic);
      return present !== undefined && read !== undefined && present !== read;
    });
    return replaced.length === 0 && this.#presentShape() === this.#shape ? undefined : { missing, replaced };
  }

  #presentShape(): string {
    return this.#subscription.topics
      .map((topic) => {
        const known = this.#connection.topic(topic);
        return `${topic} ${known?.topicId ?? ''} ${known?.partitions.length ?? 0}`;
      })
      .join();
  }
}
