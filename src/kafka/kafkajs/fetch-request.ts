import type { AbortedTransaction } from '../isolation.ts';
import { type Broker, sendTo } from './kafkajs-internals.ts';
import { readTopicId } from './metadata-request.ts';
import { type WireReader, WireWriter } from './wire.ts';

export interface FetchTarget {
  readonly topic: string;
  /** The incarnation to fetch from; a fetch by name asks whichever there is. */
  readonly topicId: string;
  readonly partition: number;
  readonly offset: bigint;
  readonly maxBytes: number;
}

/** What a fetch brought for one partition. */
export interface FetchAnswer {
  readonly topic: string;
  readonly partition: number;
  readonly errorCode: number;
  readonly highWatermark: bigint;
  readonly lastStableOffset: bigint;
  readonly aborted: readonly AbortedTransaction[];
  /** Record batches as the broker stores them, the last one possibly cut; a view of the answer. */
  readonly records: Uint8Array;
}

// Version 13 asks for topics by their ids (Kafka 3.1). Version 10 is the first that hands out zstd batches (Kafka 2.1).
const byIdApi = { apiKey: 1, apiName: 'Fetch', apiVersion: 13 } as const;
const byNameApi = { ...byIdApi, apiVersion: 10 } as const;
const consumerReplicaId = -1;
const noSession = 0;
const noSessionEpoch = -1;
const anyEpoch = -1;
const idBytes = 16;

export interface FetchOptions {
  readonly targets: readonly FetchTarget[];
  readonly readCommitted: boolean;
  readonly maxBytes: number;
  readonly maxWaitMs: number;
}

/** Whether the broker can be asked for a topic's incarnation, so that another one of the same name is never read in its place. */
export function fetchesById(broker: Broker): boolean {
  return (broker.versions?.[byIdApi.apiKey]?.maxVersion ?? 0) >= byIdApi.apiVersion;
}

/**
 * Fetches from one broker, each target from its own incarnation of its topic; waits up to `maxWaitMs` for the first byte. Targets need an id.
 * Rejects with what kafkajs throws.
 */
export function fetchById(broker: Broker, options: FetchOptions): Promise<readonly FetchAnswer[]> {
  const body = new WireWriter().tags(); // Of the request header, which the flexible encoding has and kafkajs does not write.
  openBody(body, options);
  body.compactArray(options.targets, (target) => {
    body.raw(Buffer.from(target.topicId, 'base64url').subarray(0, idBytes)).compactArray([target], (at) => {
      body.int32(at.partition).int32(anyEpoch).int64(at.offset).int32(anyEpoch).int64(-1n).int32(at.maxBytes).tags();
    });
    body.tags();
  });
  body
    .compactArray([], () => undefined)
    .compactString('')
    .tags();
  const names = new Map(options.targets.map(({ topicId, topic }) => [topicId, topic]));
  return sendTo(broker, { ...byIdApi, body, parse: (reader) => parseById(reader, names, options.targets) });
}

/** As `fetchById`, from whatever has the topics' names. */
export function fetchByName(broker: Broker, options: FetchOptions): Promise<readonly FetchAnswer[]> {
  const body = new WireWriter();
  openBody(body, options);
  // One entry per partition keeps their order, by which the broker fills the answer.
  body.array(options.targets, (target) => {
    body.string(target.topic).array([target], (at) => {
      body.int32(at.partition).int32(anyEpoch).int64(at.offset).int64(-1n).int32(at.maxBytes);
    });
  });
  body.int32(0);
  return sendTo(broker, { ...byNameApi, body, parse: parseByName });
}

function openBody(body: WireWriter, options: FetchOptions): void {
  body
    .int32(consumerReplicaId)
    .int32(options.maxWaitMs)
    .int32(1)
    .int32(options.maxBytes)
    .int8(options.readCommitted ? 1 : 0)
    .int32(noSession)
    .int32(noSessionEpoch);
}

function parseById(reader: WireReader, names: ReadonlyMap<string, string>, targets: readonly FetchTarget[]): readonly FetchAnswer[] {
  reader.skipTags(); // Of the response header.
  reader.int32();
  const errorCode = reader.int16();
  reader.int32();
  // An error of the whole fetch is every target's.
  if (errorCode !== 0) return targets.map(({ topic, partition }) => ({ ...nothing, topic, partition, errorCode }));
  return reader
    .compactArray(() => {
      const topic = names.get(readTopicId(reader)) ?? '';
      const answers = reader.compactArray(() => parseFlexiblePartition(reader, topic));
      reader.skipTags();
      return answers;
    })
    .flat();
}

function parseFlexiblePartition(reader: WireReader, topic: string): FetchAnswer {
  const partition = reader.int32();
  const errorCode = reader.int16();
  const highWatermark = reader.int64();
  const lastStableOffset = reader.int64();
  reader.int64();
  const aborted = reader.compactArray(() => {
    const transaction = { producerId: reader.int64(), firstOffset: reader.int64() };
    reader.skipTags();
    return transaction;
  });
  reader.int32();
  const records = reader.compactBytes();
  reader.skipTags();
  return { topic, partition, errorCode, highWatermark, lastStableOffset, aborted, records };
}

function parseByName(reader: WireReader): readonly FetchAnswer[] {
  reader.int32();
  reader.int16();
  reader.int32();
  return reader.array(() => parseTopic(reader)).flat();
}

function parseTopic(reader: WireReader): readonly FetchAnswer[] {
  const topic = reader.string();
  return reader.array(() => {
    const partition = reader.int32();
    const errorCode = reader.int16();
    const highWatermark = reader.int64();
    const lastStableOffset = reader.int64();
    reader.int64();
    const aborted = reader.array(() => ({ producerId: reader.int64(), firstOffset: reader.int64() }));
    return { topic, partition, errorCode, highWatermark, lastStableOffset, aborted, records: reader.bytes() };
  });
}

const nothing = { highWatermark: 0n, lastStableOffset: 0n, aborted: [], records: new Uint8Array(0) } as const;
