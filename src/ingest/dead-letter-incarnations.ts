import type { KafkaAdmin } from '../kafka/client.ts';

/** A dead-letter topic that was deleted and made anew: the letters that it held are gone. */
export interface ReplacedDeadLetters {
  readonly topic: string;
  /** The broker's ids of the topic that was there and of the one that is. */
  readonly oldTopicId: string;
  readonly newTopicId: string;
}

/** What dead-letter topics were when this process saw them last, whichever table wrote there. Each incarnation is told once. */
export class DeadLetterIncarnations {
  readonly #seen = new Map<string, string>();
  readonly #onReplaced: (replaced: ReplacedDeadLetters) => void;

  constructor(onReplaced: (replaced: ReplacedDeadLetters) => void) {
    this.#onReplaced = onReplaced;
  }

  /** Looks at what the topic is now. A topic that is not there is looked at again when it is. */
  async look(admin: KafkaAdmin, topic: string): Promise<void> {
    const newTopicId = (await admin.describeTopic(topic))?.topicId;
    if (newTopicId === undefined) return;
    const oldTopicId = this.#seen.get(topic);
    this.#seen.set(topic, newTopicId);
    if (oldTopicId !== undefined && oldTopicId !== newTopicId) this.#onReplaced({ topic, oldTopicId, newTopicId });
  }
}
