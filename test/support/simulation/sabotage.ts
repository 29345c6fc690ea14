import type { KafkaClient } from '../../../src/kafka/client.ts';
import type { DeadLetterSink } from '../../../src/protocol/dead-letters.ts';
import type { Table } from '../../../src/table/table.ts';
import type { SimulatedWorld } from './simulated-world.ts';

/** A table whose commits take every batch, wherever the marks stand: what a missing fence would do. */
export function blindTable(table: Table): Table {
  const blind: Pick<Table, 'tryAppend'> = {
    async tryAppend(_base, intent, signal) {
      for (;;) {
        const base = await table.refresh(signal);
        const progress = intent.progress.map((advance) => ({ ...advance, from: base.progressOf(advance.writerId) }));
        const outcome = await table.tryAppend(base, { ...intent, progress }, signal);
        if (outcome.kind !== 'conflicted') return outcome;
      }
    },
  };
  return new Proxy(table, {
    get(target, name) {
      if (name === 'tryAppend') return blind.tryAppend;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

/** Counts dead letters and forgets some of them. */
export function lossyDeadLetters(sink: DeadLetterSink): DeadLetterSink {
  return {
    async write(batch, rejects, signal) {
      await sink.write(
        batch,
        rejects.filter((reject) => reject.offset % 2n === 0n),
        signal,
      );
      return { deadLettered: rejects.length, filtered: 0 };
    },
  };
}

/** A broker that tells nothing of the dead letters that are there already. */
export function unreadKafka(kafka: KafkaClient): KafkaClient {
  const recordsSince: KafkaClient['admin']['recordsSince'] = () => Promise.resolve([]);
  return { ...kafka, admin: { ...kafka.admin, recordsSince } };
}

/** A broker whose transactions leave the feed's position out now and then. */
export function forgetfulKafka(kafka: KafkaClient, world: SimulatedWorld): KafkaClient {
  const { positionsTopic } = world.feedSpec;
  let transactions = 0;
  return {
    ...kafka,
    openTransactional: async (options) => {
      const producer = await kafka.openTransactional(options);
      return {
        publish: (batches, publishing) => {
          transactions += 1;
          const barrier = batches.length === 1;
          const kept = barrier || transactions % 3 > 0 ? batches : batches.filter(({ topic }) => topic !== positionsTopic);
          return producer.publish(kept, publishing);
        },
        close: () => producer.close(),
      };
    },
  };
}
