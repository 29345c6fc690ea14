import { groupBy } from '../../base/group-by.ts';
import type { EncodedRecordBatch } from '../client.ts';
import { type Broker, sendTo } from './kafkajs-internals.ts';
import { type WireReader, WireWriter } from './wire.ts';

/** What the broker says about one partition's batch. */
export interface ProduceAnswer {
  readonly topic: string;
  readonly partition: number;
  readonly errorCode: number;
}

// Version 7 is the first that takes zstd batches (Kafka 2.1).
const produceApi = { apiKey: 0, apiName: 'Produce', apiVersion: 7 } as const;
const allReplicas = -1;

/** Sends at most one batch per partition to the broker that leads them. Rejects with what kafkajs throws. */
export function produceTo(
  broker: Broker,
  options: { readonly transactionalId: string | undefined; readonly timeoutMs: number; readonly batches: readonly EncodedRecordBatch[] },
): Promise<readonly ProduceAnswer[]> {
  const body = new WireWriter().string(options.transactionalId).int16(allReplicas).int32(options.timeoutMs);
  body.array([...groupBy(options.batches, ({ topic }) => topic)], ([topic, batches]) => {
    body.string(topic).array(batches, (batch) => {
      body.int32(batch.partition).bytes(batch.bytes);
    });
  });
  return sendTo(broker, { ...produceApi, body, parse: parseProduce });
}

function parseProduce(reader: WireReader): readonly ProduceAnswer[] {
  return reader
    .array(() => {
      const topic = reader.string();
      return reader.array(() => {
        const partition = reader.int32();
        const errorCode = reader.int16();
        reader.int64();
        reader.int64();
        reader.int64();
        return { topic, partition, errorCode };
      });
    })
    .flat();
}
