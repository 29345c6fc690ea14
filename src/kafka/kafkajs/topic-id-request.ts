import { type Broker, sendTo } from './kafkajs-door.ts';
import { type WireReader, WireWriter } from './wire.ts';

// kafkajs stops at Metadata version 6; topic ids came with version 10 (Kafka 2.8), in the flexible encoding.
const metadataApi = { apiKey: 3, apiName: 'Metadata', apiVersion: 10 } as const;
const idBytes = 16;

/** Whether the broker can be asked for topic ids. */
export function tellsTopicIds(broker: Broker): boolean {
  return (broker.versions?.[metadataApi.apiKey]?.maxVersion ?? 0) >= metadataApi.apiVersion;
}

/** Asks for the id of a topic's present incarnation, base64url. Rejects with what kafkajs throws. */
export async function topicIdFrom(broker: Broker, topic: string): Promise<{ readonly errorCode: number; readonly topicId: string }> {
  const name = Buffer.from(topic);
  const body = new WireWriter()
    .int8(0) // Tagged fields of the request header, which the flexible encoding has and kafkajs does not write.
    .int8(2) // One topic, compact array.
    .raw(Buffer.alloc(idBytes))
    .raw(uvarint(name.length + 1))
    .raw(name)
    .int8(0)
    .int8(0) // allow_auto_topic_creation
    .int8(0) // include_cluster_authorized_operations
    .int8(0) // include_topic_authorized_operations
    .int8(0);
  const topics = await sendTo(broker, { ...metadataApi, body, parse: parseMetadata });
  return topics.find((each) => each.name === topic) ?? { errorCode: 3, topicId: '' };
}

function parseMetadata(reader: WireReader): readonly { readonly name: string; readonly errorCode: number; readonly topicId: string }[] {
  reader.skipTags(); // Of the response header.
  reader.int32();
  reader.compactArray(() => {
    reader.int32();
    reader.compactString();
    reader.int32();
    reader.compactString();
    reader.skipTags();
    return undefined;
  });
  reader.compactString();
  reader.int32();
  return reader.compactArray(() => {
    const errorCode = reader.int16();
    const name = reader.compactString();
    const topicId = Buffer.from(reader.raw(idBytes)).toString('base64url');
    reader.raw(1);
    reader.compactArray(() => {
      skipPartition(reader);
      return undefined;
    });
    reader.int32();
    reader.skipTags();
    return { name, errorCode, topicId };
  });
}

function skipPartition(reader: WireReader): void {
  reader.int16();
  reader.int32();
  reader.int32();
  reader.int32();
  for (let list = 0; list < 3; list += 1) reader.compactArray(() => reader.int32());
  reader.skipTags();
}

function uvarint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  bytes.push(rest);
  return Uint8Array.from(bytes);
}
