import type { AbortedTransaction } from '../isolation.ts';
import { type Broker, sendTo } from './kafkajs-door.ts';
import { type WireReader, WireWriter } from './wire.ts';

export interface FetchTarget {
  readonly topic: string;
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

// Version 10 is the first that hands out zstd batches (Kafka 2.1); later ones add nothing that is used here.
const fetchApi = { apiKey: 1, apiName: 'Fetch', apiVersion: 10 } as const;
const consumerReplicaId = -1;
const noSession = 0;
const noSessionEpoch = -1;
const anyLeaderEpoch = -1;

/** Fetches from one broker; waits up to `maxWaitMs` for the first byte. Rejects with what kafkajs throws. */
export function fetchFrom(
  broker: Broker,
  options: {
    readonly targets: readonly FetchTarget[];
    readonly readCommitted: boolean;
    readonly maxBytes: number;
    readonly maxWaitMs: number;
  },
): Promise<readonly FetchAnswer[]> {
  const body = new WireWriter()
    .int32(consumerReplicaId)
    .int32(options.maxWaitMs)
    .int32(1)
    .int32(options.maxBytes)
    .int8(options.readCommitted ? 1 : 0)
    .int32(noSession)
    .int32(noSessionEpoch);
  // One entry per partition keeps their order, by which the broker fills the answer.
  body.array(options.targets, (target) => {
    body.string(target.topic).array([target], (at) => {
      body.int32(at.partition).int32(anyLeaderEpoch).int64(at.offset).int64(-1n).int32(at.maxBytes);
    });
  });
  body.int32(0);
  return sendTo(broker, { ...fetchApi, body, parse: parseFetch });
}

function parseFetch(reader: WireReader): readonly FetchAnswer[] {
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
