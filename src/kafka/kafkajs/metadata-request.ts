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
  const flexible = (broker.versions?.[withTopicIds.apiKey]?.maxVersion ?? 0) >= withTopicIds.apiVersion;
  return flexible
    ? sendTo(broker, { ...withTopicIds, body: flexibleBody(topics), parse: parseFlexible })
    : sendTo(broker, { ...withoutTopicIds, body: plainBody(topics), parse: parsePlain });
}

function flexibleBody(topics: readonly string[] | 'all'): WireWriter {
  const body = new WireWriter().tags(); // Of the request header, which the flexible encoding has and kafkajs does not write.
  if (topics === 'all') body.int8(0);
  else
    body.compactArray(topics, (topic) => {
      body.raw(Buffer.alloc(idBytes)).compactString(topic).tags();
    });
  // allow_auto_topic_creation, include_cluster_authorized_operations, include_topic_authorized_operations
  return body.int8(0).int8(0).int8(0).tags();
}

function parseFlexible(reader: WireReader): ClusterMetadata {
  reader.skipTags(); // Of the response header.
  reader.int32();
  const nodeIds = reader.compactArray(() => {
    const nodeId = reader.int32();
    reader.compactString();
    reader.int32();
    reader.compactString();
    reader.skipTags();
    return nodeId;
  });
  reader.compactString();
  reader.int32();
  const topics = reader.compactArray(() => {
    const errorCode = reader.int16();
    const topic = reader.compactString();
    const topicId = readTopicId(reader);
    reader.raw(1);
    const partitions = reader.compactArray(() => {
      reader.int16();
      const partition = reader.int32();
      const leader = reader.int32();
      reader.int32();
      for (let list = 0; list < 3; list += 1) reader.compactArray(() => reader.int32());
      reader.skipTags();
      return { partition, leader };
    });
    reader.int32();
    reader.skipTags();
    return { topic, errorCode, topicId, partitions };
  });
  return { nodeIds, topics };
}

function plainBody(topics: readonly string[] | 'all'): WireWriter {
  const body = new WireWriter();
  if (topics === 'all') body.int32(-1);
  else
    body.array(topics, (topic) => {
      body.string(topic);
    });
  return body.int8(0); // allow_auto_topic_creation
}

function parsePlain(reader: WireReader): ClusterMetadata {
  reader.int32();
  const nodeIds = reader.array(() => {
    const nodeId = reader.int32();
    reader.string();
    reader.int32();
    reader.string();
    return nodeId;
  });
  reader.string();
  reader.int32();
  const topics = reader.array(() => {
    const errorCode = reader.int16();
    const topic = reader.string();
    reader.raw(1);
    const partitions = reader.array(() => {
      reader.int16();
      const partition = reader.int32();
      const leader = reader.int32();
      for (let list = 0; list < 3; list += 1) reader.array(() => reader.int32());
      return { partition, leader };
    });
    return { topic, errorCode, topicId: noTopicId, partitions };
  });
  return { nodeIds, topics };
}

/** Reads a topic's id; a cluster that was never told to give its topics ids has zeros there. */
export function readTopicId(reader: WireReader): string {
  const id = Buffer.from(reader.raw(idBytes));
  return id.every((byte) => byte === 0) ? noTopicId : id.toString('base64url');
}
