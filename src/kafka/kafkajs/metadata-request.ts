import { type Broker, sendTo } from './kafkajs-internals.ts';
import { type WireReader, WireWriter } from './wire.ts';

/** A topic as a broker describes it. */
export interface TopicMetadata {
  readonly topic: string;
  readonly errorCode: number;
  /** Of the topic's present incarnation, base64url; `noTopicId` when the broker does not tell. */
  readonly topicId: string;
  /** `leader` is negative while nobody leads. */
  readonly partitions: readonly { readonly partition: number; readonly leader: number }[];
}

export interface ClusterMetadata {
  readonly nodeIds: readonly number[];
  readonly topics: readonly TopicMetadata[];
}

/** What stands for the id of a topic whose broker knows none. */
export const noTopicId = '-';

// Asked in our own encoding: kafkajs stops at version 6 and fails as a whole when one of the topics is missing. Topic ids came with version 10
// (Kafka 2.8), in the flexible encoding; version 5 is what every broker from 2.1 on speaks.
const withTopicIds = { apiKey: 3, apiName: 'Metadata', apiVersion: 10 } as const;
const withoutTopicIds = { ...withTopicIds, apiVersion: 5 } as const;
const idBytes = 16;

/** Asks which brokers there are and what is known of the topics (`all`: of all that may be seen); each has its own error code. Rejects with what kafkajs throws. */
export function metadataFrom(broker: Broker, topics: readonly string[] | 'all'): Promise<ClusterMetadata> {
  const byId = (broker.versions?.[withTopicIds.apiKey]?.maxVersion ?? 0) >= withTopicIds.apiVersion;
  const body = new WireWriter(byId ? 'flexible' : 'plain');
  body.array(topics === 'all' ? undefined : topics, (topic) => {
    if (byId) body.raw(Buffer.alloc(idBytes));
    body.string(topic).tags();
  });
  body.int8(0); // allow_auto_topic_creation
  if (byId) body.int8(0).int8(0); // include_cluster_authorized_operations, include_topic_authorized_operations
  return sendTo(broker, { ...(byId ? withTopicIds : withoutTopicIds), body: body.tags(), parse: (reader) => parse(reader, byId) });
}

function parse(reader: WireReader, byId: boolean): ClusterMetadata {
  reader.int32();
  const nodeIds = reader.array(() => {
    const nodeId = reader.int32();
    reader.string();
    reader.int32();
    reader.string();
    reader.tags();
    return nodeId;
  });
  reader.string();
  reader.int32();
  const topics = reader.array(() => {
    const errorCode = reader.int16();
    const topic = reader.string();
    const topicId = byId ? readTopicId(reader) : noTopicId;
    reader.raw(1);
    const partitions = reader.array(() => {
      reader.int16();
      const partition = reader.int32();
      const leader = reader.int32();
      if (byId) reader.int32();
      for (let list = 0; list < 3; list += 1) reader.array(() => reader.int32());
      reader.tags();
      return { partition, leader };
    });
    if (byId) reader.int32();
    reader.tags();
    return { topic, errorCode, topicId, partitions };
  });
  return { nodeIds, topics };
}

/** Reads a topic's id; a cluster that was never told to give its topics ids has zeros there. */
export function readTopicId(reader: WireReader): string {
  const id = Buffer.from(reader.raw(idBytes));
  return id.every((byte) => byte === 0) ? noTopicId : id.toString('base64url');
}
