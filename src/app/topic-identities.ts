import type { KafkaAdmin } from '../kafka/client.ts';
import type { SourceIdentities, SourceIdentity } from '../protocol/source-offsets.ts';

/** Which incarnation of a topic there is. Asked anew each time: what is remembered of it travels with the offsets it was asked for. */
export class TopicIdentities implements SourceIdentities {
  readonly #admin: KafkaAdmin;
  readonly #pipeline: string;

  constructor(options: { readonly admin: KafkaAdmin; readonly pipeline: string }) {
    this.#admin = options.admin;
    this.#pipeline = options.pipeline;
  }

  async identityOf(topic: string): Promise<SourceIdentity | undefined> {
    const [clusterId, found] = await Promise.all([this.#admin.clusterId(), this.#admin.describeTopic(topic)]);
    return found === undefined ? undefined : { pipeline: this.#pipeline, clusterId, topic, topicId: found.topicId };
  }
}
