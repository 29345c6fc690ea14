import { type Clock, type EpochMs, toEpochMs } from '../../../src/base/clock.ts';
import type {
  ConsumerHandler,
  ConsumerOptions,
  FetchedPartition,
  KafkaAdmin,
  KafkaClient,
  KafkaConsumer,
  KafkaRecord,
} from '../../../src/kafka/client.ts';
import type { ObjectInfo, ObjectStore } from '../../../src/storage/object-store.ts';
import type { Power } from './power.ts';

/** A process's own idea of time: skewed, and standing still while the process does not run. */
export function poweredClock(clock: Clock, power: Power, skewMs: number): Clock {
  return {
    now: (): EpochMs => toEpochMs(clock.now() + skewMs),
    monotonicMs: () => clock.monotonicMs(),
    sleep: (durationMs, signal) => power.pass(() => clock.sleep(durationMs, signal)),
  };
}

export function poweredStore(store: ObjectStore, power: Power): ObjectStore {
  return {
    root: store.root,
    read: (path, signal) => power.pass(() => store.read(path, signal)),
    readRange: (path, range, signal) => power.pass(() => store.readRange(path, range, signal)),
    head: (path, signal) => power.pass(() => store.head(path, signal)),
    list: (options, signal) => poweredList(store.list(options, signal), power),
    put: (path, bytes, signal) => power.pass(() => store.put(path, bytes, signal)),
    putIfAbsent: (path, bytes, signal) => power.pass(() => store.putIfAbsent(path, bytes, signal)),
    delete: (path, signal) => power.pass(() => store.delete(path, signal)),
  };
}

async function* poweredList<T extends ObjectInfo | KafkaRecord | FetchedPartition>(
  items: AsyncIterable<T>,
  power: Power,
): AsyncIterable<T> {
  await power.ready();
  const iterator = items[Symbol.asyncIterator]();
  for (;;) {
    const next = await power.pass(() => iterator.next());
    if (next.done === true) return;
    yield next.value;
  }
}

export function poweredKafka(client: KafkaClient, power: Power): KafkaClient {
  return {
    admin: poweredAdmin(client.admin, power),
    consumer: (options) => poweredConsumer(client, options, power),
    workGroup: (options) => client.workGroup(options),
    producer: async () => {
      const producer = await power.pass(() => client.producer());
      return { send: (batches) => power.pass(() => producer.send(batches)), close: () => power.pass(() => producer.close()) };
    },
    openTransactional: async (opening) => {
      const producer = await power.pass(() => client.openTransactional(opening));
      return {
        publish: (batches, options) => power.pass(() => producer.publish(batches, options)),
        close: () => power.pass(() => producer.close()),
      };
    },
    readPartition: (options) => poweredList(client.readPartition(options), power),
    readBatches: (options) => poweredList(client.readBatches(options), power),
    close: () => power.pass(() => client.close()),
  };
}

function poweredAdmin(admin: KafkaAdmin, power: Power): KafkaAdmin {
  return {
    clusterId: () => power.pass(() => admin.clusterId()),
    describeTopic: (topic) => power.pass(() => admin.describeTopic(topic)),
    topicId: (topic) => power.pass(() => admin.topicId(topic)),
    ensureTopics: (topics) => power.pass(() => admin.ensureTopics(topics)),
    partitionCount: (topic) => power.pass(() => admin.partitionCount(topic)),
    partitionCounts: () => power.pass(() => admin.partitionCounts()),
    topicConfig: (topic) => power.pass(() => admin.topicConfig(topic)),
    offsets: (topic) => power.pass(() => admin.offsets(topic)),
    recordsSince: (topic, sinceMs) => power.pass(() => admin.recordsSince(topic, sinceMs)),
    groupOffsets: (groupId, topic) => power.pass(() => admin.groupOffsets(groupId, topic)),
    deleteTopic: (topic) => power.pass(() => admin.deleteTopic(topic)),
  };
}

function poweredConsumer(client: KafkaClient, options: ConsumerOptions, power: Power): KafkaConsumer {
  const consumer = client.consumer({ ...options, handler: poweredHandler(options.handler, power) });
  return {
    start: () => power.pass(() => consumer.start()),
    pause: (partitions) => {
      consumer.pause(partitions);
    },
    resume: (partitions) => {
      consumer.resume(partitions);
    },
    seek: (position) => {
      consumer.seek(position);
    },
    commitGroupOffsets: (positions) => power.pass(() => consumer.commitGroupOffsets(positions)),
    stop: () => power.pass(() => consumer.stop()),
  };
}

function poweredHandler(handler: ConsumerHandler, power: Power): ConsumerHandler {
  return {
    onAssigned: (partitions, generation) => power.pass(() => handler.onAssigned(partitions, generation)),
    onRevoked: (generation) => power.pass(() => handler.onRevoked(generation)),
    onTopicsChanged: (change) => power.pass(() => handler.onTopicsChanged(change)),
    onFetched: (fetched) => {
      if (power.state === 'on') handler.onFetched(fetched);
    },
    onOutOfRange: (position, held) => {
      if (power.state === 'on') handler.onOutOfRange?.(position, held);
    },
    onFailed: (error) => {
      if (power.state === 'on') handler.onFailed(error);
    },
  };
}
