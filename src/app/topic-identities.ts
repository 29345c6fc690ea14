import type { KafkaAdmin } from '../kafka/client.ts';
import type { SourceIdentities, SourceIdentity } from '../protocol/source-offsets.ts';

/**
 * Which incarnation of a topic is being read. Asked anew for each assignment, remembered in between: all commits of one
 * assignment speak of the same incarnation.
 */
export class TopicIdentities implements SourceIdentities {
  readonly #admin: KafkaAdmin;
  readonly #pipeline: string;
  readonly #known = new Map<string, Promise<SourceIdentity>>();

  constructor(options: { readonly admin: KafkaAdmin; readonly pipeline: string }) {
    this.#admin = options.admin;
    this.#pipeline = options.pipeline;
  }

  identityOf(topic: string): Promise<SourceIdentity> {
    const known = this.#known.get(topic);
    if (known !== undefined) return known;
    const asked = this.#ask(topic);
    this.#known.set(topic, asked);
    asked.catch(() => this.#known.delete(topic));
    return asked;
  }

  refresh(topic: string): Promise<SourceIdentity> {
    this.#known.delete(topic);
    return this.identityOf(topic);
  }

  async #ask(topic: string): Promise<SourceIdentity> {
    const [clusterId, topicId] = await Promise.all([this.#admin.clusterId(), this.#admin.topicId(topic)]);
    return { pipeline: this.#pipeline, clusterId, topic, topicId };
  }
}
