import { deferred } from '../base/deferred.ts';
import { isServiceError } from '../base/errors.ts';
import { Secret } from '../base/secret.ts';
import { SchemaRegistry } from '../registry/schema-registry.ts';
import type { RegistrySettings } from '../registry/settings.ts';
import type { FeedChange, FeedEnvelope, FeedRecord } from './feed-change.ts';
import { FeedDecoder } from './feed-decoder.ts';

/** What is used of kafkajs' consumer; `kafka.consumer({ groupId })` is one. It reads committed records unless it is told otherwise. */
export interface KafkaJsConsumer {
  connect(): Promise<void>;
  subscribe(subscription: { readonly topics: string[]; readonly fromBeginning: boolean }): Promise<void>;
  run(config: { readonly eachBatchAutoResolve: boolean; readonly eachBatch: (payload: KafkaJsBatch) => Promise<void> }): Promise<void>;
  stop(): Promise<void>;
  disconnect(): Promise<void>;
}

export interface KafkaJsBatch {
  readonly batch: {
    readonly topic: string;
    readonly partition: number;
    readonly messages: readonly Omit<FeedRecord, 'topic' | 'partition'>[];
  };
  readonly resolveOffset: (offset: string) => void;
  readonly heartbeat: () => Promise<void>;
  readonly commitOffsetsIfNecessary: () => Promise<void>;
  readonly isRunning: () => boolean;
  readonly isStale: () => boolean;
}

export interface FeedConsumerOptions {
  /** A consumer of kafkajs with a group of its own. */
  readonly consumer: KafkaJsConsumer;
  readonly topic: string;
  /** As the feed has it. Default `debezium`. */
  readonly envelope?: FeedEnvelope | undefined;
  /** For feeds of encoding json-schema and avro. */
  readonly registry?: { readonly url: string; readonly username?: string; readonly password?: string; readonly token?: string } | undefined;
  /** Header `feed` of the records to read, where several feeds share a topic. Default: all. */
  readonly feed?: string | undefined;
  /** Passes over records that were read before, for consumers that read uncommitted records. Default false. */
  readonly deduplicate?: boolean | undefined;
  /** Takes the changes of one partition, in order. Offsets are committed behind it; when it rejects, the same changes come again. */
  readonly onChanges: (changes: readonly FeedChange[]) => Promise<void> | void;
}

/** A client of one feed over kafkajs: changes instead of records, each batch of a partition at a time. */
export class FeedConsumer {
  readonly #options: FeedConsumerOptions;
  readonly #registry: SchemaRegistry | undefined;
  readonly #decoders = new Map<number, FeedDecoder>();
  readonly #end = deferred<undefined>();

  constructor(options: FeedConsumerOptions) {
    const { registry } = options;
    this.#options = options;
    this.#registry = registry === undefined ? undefined : new SchemaRegistry(registrySettings(registry));
    // Who does not ask is told by kafkajs' log.
    this.#end.promise.catch(() => undefined);
  }

  /** Joins the group and reads from its offsets on, from the beginning where it has none. Resolves when it reads. */
  async run(): Promise<void> {
    const { consumer, topic } = this.#options;
    await consumer.connect();
    await consumer.subscribe({ topics: [topic], fromBeginning: true });
    await consumer.run({ eachBatchAutoResolve: false, eachBatch: (payload) => this.#take(payload) });
  }

  /**
   * Resolves when `stop` was called. Rejects, and the consumer stops, when a record cannot be read however often it is tried: it is Protobuf, in another
   * envelope, or no feed's. kafkajs alone would log that and try forever.
   */
  ended(): Promise<void> {
    return this.#end.promise;
  }

  /** Ends reading; the batch that is being taken is finished first. */
  async stop(): Promise<void> {
    await this.#options.consumer.stop();
    await this.#options.consumer.disconnect();
    this.#end.resolve(undefined);
  }

  async #take({ batch, resolveOffset, heartbeat, commitOffsetsIfNecessary, isRunning, isStale }: KafkaJsBatch): Promise<void> {
    if (!isRunning() || isStale()) return;
    const { topic, partition, messages } = batch;
    const decoder = this.#decoderOf(partition);
    const restore = decoder.checkpoint();
    try {
      const changes: FeedChange[] = [];
      for (const message of messages) {
        const change = await decoder.decode({ ...message, topic, partition });
        if (change !== undefined) changes.push(change);
      }
      if (changes.length > 0) await this.#options.onChanges(changes);
    } catch (error) {
      // The same records come again, and are no repeats then.
      restore();
      if (isServiceError(error, 'invalid', 'unsupported', 'corrupt')) this.#giveUp(error);
      throw error;
    }
    const last = messages.at(-1);
    if (last !== undefined) resolveOffset(last.offset);
    await heartbeat();
    await commitOffsetsIfNecessary();
  }

  /** Not waited for: the consumer stops when this batch has ended. */
  #giveUp(error: Error): void {
    this.#end.reject(error);
    this.#options.consumer.stop().catch(() => undefined);
  }

  /** Partitions may be taken at the same time. */
  #decoderOf(partition: number): FeedDecoder {
    const { envelope, feed, deduplicate } = this.#options;
    const decoder = this.#decoders.get(partition) ?? new FeedDecoder({ envelope, registry: this.#registry, feed, deduplicate });
    this.#decoders.set(partition, decoder);
    return decoder;
  }
}

function registrySettings({ url, username, password, token }: NonNullable<FeedConsumerOptions['registry']>): RegistrySettings {
  const auth =
    token !== undefined
      ? ({ kind: 'bearer', token: new Secret(token) } as const)
      : username === undefined
        ? undefined
        : ({ kind: 'basic', username, password: new Secret(password ?? '') } as const);
  return { url: url.replace(/\/+$/, ''), auth, onUnknownSchema: 'wait' };
}
