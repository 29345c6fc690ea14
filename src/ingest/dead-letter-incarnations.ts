import { isServiceError } from '../base/errors.ts';
import type { KafkaAdmin } from '../kafka/client.ts';

type TopicIds = Pick<KafkaAdmin, 'topicId'>;

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

  /** Looks at what the topic is now. A topic that is not there, or of which nobody can say it, is looked at again with the next letter. */
  async look(admin: TopicIds, topic: string): Promise<void> {
    const newTopicId = await idOf(admin, topic);
    if (newTopicId === undefined) return;
    const oldTopicId = this.#seen.get(topic);
    this.#seen.set(topic, newTopicId);
    if (oldTopicId !== undefined && oldTopicId !== newTopicId) this.#onReplaced({ topic, oldTopicId, newTopicId });
  }
}

/** Letters are written whether this can be asked or not: what stands against them, writing them tells. */
async function idOf(admin: TopicIds, topic: string): Promise<string | undefined> {
  try {
    return await admin.topicId(topic);
  } catch (error) {
    if (isServiceError(error)) return undefined;
    throw error;
  }
}
