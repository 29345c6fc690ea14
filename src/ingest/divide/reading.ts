import { type ServiceError, serviceError } from '../../base/errors.ts';
import type { StartPosition, TopicPartition } from '../../kafka/client.ts';
import type { FetchedPart } from './fetched-part.ts';
import { partitionKey } from './lane.ts';

/** One partition of the present generation. */
export interface PartitionRead extends TopicPartition {
  at: bigint | undefined;
  end: bigint;
  servedBehind: boolean;
  paused: boolean;
  readonly pending: FetchedPart[];
  /** Settles when everything fetched so far was handed on. Never rejects. */
  tail: Promise<void>;
}

export interface Generation {
  readonly number: number;
  readonly partitions: readonly TopicPartition[];
  readonly reads: ReadonlyMap<string, PartitionRead>;
  readonly ended: AbortController;
}

/** Nothing is read yet. */
export function newGeneration(partitions: readonly TopicPartition[], number: number): Generation {
  const reads = new Map(
    partitions.map(({ topic, partition }) => {
      const read: PartitionRead = {
        ...{ topic, partition, at: undefined, end: 0n, servedBehind: false, paused: false },
        pending: [],
        tail: Promise.resolve(),
      };
      return [partitionKey(read), read];
    }),
  );
  return { number, partitions, reads, ended: new AbortController() };
}

export function placeOf({ topic, partition }: TopicPartition): TopicPartition {
  return { topic, partition };
}

export function outOfRange({ topic, partition, offset }: StartPosition): ServiceError {
  return serviceError.discontinuity('KAFKA_OFFSET_OUT_OF_RANGE', `topic "${topic}" partition ${partition} does not hold offset ${offset}`);
}
