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
 * Fetches from one broker; waits up to `maxWaitMs` for the first byte. By `id` each target is read from its own incarnation of its topic, which
 * targets need the id of; by `name` from whatever has it. Rejects with what kafkajs throws.
 */
export function fetchFrom(broker: Broker, by: 'id' | 'name', options: FetchOptions): Promise<readonly FetchAnswer[]> {
  const byId = by === 'id';
  const body = new WireWriter(byId ? 'flexible' : 'plain');
  body
    .int32(consumerReplicaId)
    .int32(options.maxWaitMs)
    .int32(1)
    .int32(options.maxBytes)
    .int8(options.readCommitted ? 1 : 0)
    .int32(noSession)
    .int32(noSessionEpoch);
  // One entry per partition keeps their order, by which the broker fills the answer.
  body.array(options.targets, (target) => {
    if (byId) body.raw(Buffer.from(target.topicId, 'base64url').subarray(0, idBytes));
    else body.string(target.topic);
    body.array([target], (at) => {
      body.int32(at.partition).int32(anyEpoch).int64(at.offset);
      if (byId) body.int32(anyEpoch);
      body.int64(-1n).int32(at.maxBytes).tags();
    });
    body.tags();
  });
  body.array([], () => undefined);
  if (byId) body.string('');
  const names = new Map(options.targets.map(({ topicId, topic }) => [topicId, topic]));
  const parse = (reader: WireReader): readonly FetchAnswer[] => parseAnswer(reader, byId ? names : undefined, options.targets);
  return sendTo(broker, { ...(byId ? byIdApi : byNameApi), body: body.tags(), parse });
}

/** @param names of topics by their ids, which stand in their place; `undefined`: the names do. */
function parseAnswer(
  reader: WireReader,
  names: ReadonlyMap<string, string> | undefined,
  targets: readonly FetchTarget[],
): readonly FetchAnswer[] {
  reader.int32();
  const errorCode = reader.int16();
  reader.int32();
  // An error of the whole fetch is every target's.
  if (errorCode !== 0) return targets.map(({ topic, partition }) => ({ ...nothing, topic, partition, errorCode }));
  return reader
    .array(() => {
      const topic = names === undefined ? reader.string() : (names.get(readTopicId(reader)) ?? '');
      const answers = reader.array(() => parsePartition(reader, topic, names !== undefined));
      reader.tags();
      return answers;
    })
    .flat();
}

function parsePartition(reader: WireReader, topic: string, byId: boolean): FetchAnswer {
  const partition = reader.int32();
  const errorCode = reader.int16();
  const highWatermark = reader.int64();
  const lastStableOffset = reader.int64();
  reader.int64();
  const aborted = reader.array(() => {
    const transaction = { producerId: reader.int64(), firstOffset: reader.int64() };
    reader.tags();
    return transaction;
  });
  if (byId) reader.int32();
  const records = reader.bytes();
  reader.tags();
  return { topic, partition, errorCode, highWatermark, lastStableOffset, aborted, records };
}

const nothing = { highWatermark: 0n, lastStableOffset: 0n, aborted: [], records: new Uint8Array(0) } as const;
