import { setTimeout as sleep } from 'node:timers/promises';
import type { Components } from '../../src/app/components.ts';
import { IngestRole } from '../../src/app/ingest-role.ts';
import { type OpenedComponents, openComponents } from '../../src/app/open-components.ts';
import { TwinRole } from '../../src/app/twin-role.ts';
import { toEpochMs } from '../../src/base/clock.ts';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import { SystemClock } from '../../src/base/system-clock.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import type { KafkaClient, OutgoingRecord } from '../../src/kafka/client.ts';
import { encodeRecordBatch } from '../../src/kafka/records/record-batch.ts';
import { bundledWorker } from './bundled-worker.ts';
import { MemoryBroker } from './kafka/memory-broker.ts';

/** A record to produce; texts are their bytes. */
export interface TextRecord {
  readonly key?: string | null | undefined;
  readonly value?: string | null | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly timestampMs?: number | undefined;
}

/** A pipeline as its configuration says, over a broker in memory: the product's own ingest, run when a test asks for it. */
export class MemoryPipeline {
  readonly components: Components;
  readonly kafka: KafkaClient;
  readonly #opened: OpenedComponents;

  constructor(directory: string, yaml: string, topics: Readonly<Record<string, number>>) {
    const { config } = loadConfig({
      files: ['pipeline.yaml'],
      env: {},
      workingDir: directory,
      readText: () => `dataDir: ${directory}\nlogging: { level: error }\n${yaml}`,
    });
    const clock = new SystemClock();
    const broker = new MemoryBroker({ clock, random: new SeededRandom(1) });
    this.kafka = broker.client('test');
    for (const [topic, partitions] of Object.entries(topics)) void this.kafka.admin.ensureTopics([{ topic, partitions }]);
    this.#opened = openComponents({ config, role: 'test', brokers: [] });
    this.components = { ...this.#opened, kafka: broker.client('pipeline') };
  }

  get openEngine(): OpenedComponents['openEngine'] {
    return this.#opened.openEngine;
  }

  async produce(topic: string, partition: number, records: readonly TextRecord[]): Promise<void> {
    const producer = await this.kafka.producer();
    const bytes = (text: string | null | undefined): Uint8Array | undefined =>
      text === null || text === undefined ? undefined : Buffer.from(text);
    const outgoing = records.map(
      ({ key, value, headers = {}, timestampMs = Date.now() }): OutgoingRecord => ({
        key: bytes(key),
        value: bytes(value),
        headers: Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)] as const),
        timestampMs: toEpochMs(timestampMs),
      }),
    );
    await producer.send([encodeRecordBatch({ topic, partition, records: outgoing })]);
    await producer.close();
  }

  /** Runs ingest and twins until every table has all that its topics hold. */
  async ingest(tables: readonly string[] = this.components.config.ingest.routes.map(({ table }) => table)): Promise<void> {
    await this.whileIngesting(() => this.#untilThrough(tables));
  }

  async whileIngesting<T>(work: (role: IngestRole) => Promise<T>): Promise<T> {
    const stop = new AbortController();
    const stopTwins = new AbortController();
    const role = new IngestRole(this.components, await bundledWorker());
    const twins = new TwinRole(this.components);
    const running = role.run(stop.signal);
    const following = twins.run(stopTwins.signal);
    running.catch(() => undefined);
    try {
      return await work(role);
    } finally {
      stop.abort();
      await running;
      await twins.drain(stopTwins.signal);
      stopTwins.abort();
      await following;
    }
  }

  async #untilThrough(tables: readonly string[]): Promise<void> {
    const { catalog, config, tables: known } = this.components;
    const deadlineMs = Date.now() + 90_000;
    for (const table of tables) {
      for (const topic of known.routeOf(table)?.topics ?? []) {
        for (const { partition, latest } of await this.kafka.admin.offsets(topic)) {
          const prefix = `${config.pipeline}:${topic}:${partition}:`;
          for (;;) {
            const marks = await catalog
              .load(table)
              .then((opened) => opened.refresh())
              .then((snapshot) => snapshot.progressStartingWith(prefix))
              .catch(() => new Map<string, bigint>());
            if (latest === 0n || [...marks.values()].some((mark) => mark >= latest)) break;
            if (Date.now() > deadlineMs) throw new Error(`table ${table} did not take ${topic}:${partition} until ${latest}`);
            await sleep(20);
          }
        }
      }
    }
  }

  async close(): Promise<void> {
    await this.#opened.close();
  }
}
