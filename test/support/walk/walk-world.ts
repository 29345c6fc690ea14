import { setTimeout as sleep } from 'node:timers/promises';
import { CompressionTypes, Partitioners, type Producer } from 'kafkajs';
import type { SeededRandom } from '../../../src/base/seeded-random.ts';
import { eventually, ProductProcess, type RunOptions, runProduct, type StatusPage } from '../process.ts';
import { type PipelineCase, poisonOf, valueOf, type Workload } from '../process-workload.ts';
import { SourceLedger, type SourceRecord } from './source-ledger.ts';
import type { TakenAway } from './walk-judge.ts';

/** How an operator answers a partition that stands still because its topic is another one: read what the new one holds. */
const acceptDiscontinuity = ['--set', 'ingest.onOffsetDiscontinuity=accept'];
const drainDeadlineMs = 120_000;
const lookMs = 150;
const lostToAnotherWriter = 3;

/** One pipeline, the processes that run it, and what was produced to it, as an operator with two hands sees them. */
export class WalkWorld {
  readonly workload: Workload;
  readonly pipeline: PipelineCase;
  readonly random: SeededRandom;
  readonly ledger: SourceLedger = new SourceLedger();
  readonly taken: TakenAway = { deadLetters: false };
  /** What was done, for the message of a failed walk. */
  readonly story: string[] = [];
  #partitions: number;
  #producer: Producer | undefined;
  #replicas: ProductProcess[] = [];

  constructor(workload: Workload, pipeline: PipelineCase, random: SeededRandom) {
    this.workload = workload;
    this.pipeline = pipeline;
    this.random = random;
    this.#partitions = pipeline.partitions;
  }

  get replicas(): readonly ProductProcess[] {
    return this.#replicas;
  }

  get partitions(): number {
    return this.#partitions;
  }

  start(options: Partial<RunOptions> = {}): ProductProcess {
    const started = new ProductProcess({ config: this.pipeline.config, ...options, args: ['serve', ...(options.args ?? [])] });
    this.#replicas.push(started);
    return started;
  }

  /** SIGTERM to all; each must drain and end with code 0. */
  async terminateAll(): Promise<void> {
    await Promise.all([...this.#replicas].map((replica) => this.terminate(replica)));
  }

  async terminate(replica: ProductProcess): Promise<void> {
    // A process without its signal handlers yet dies of the signal.
    await replica.url();
    const { code } = await replica.terminate();
    this.#replicas = this.#replicas.filter((other) => other !== replica);
    if (code !== 0) throw new Error(`a drain ended with code ${String(code)}:\n${replica.log}`);
  }

  async kill(replica: ProductProcess): Promise<void> {
    await replica.kill();
    this.#replicas = this.#replicas.filter((other) => other !== replica);
  }

  async killAll(): Promise<void> {
    await Promise.all([...this.#replicas].map((replica) => this.kill(replica)));
    await this.#producer?.disconnect();
  }

  async produce(count: number): Promise<void> {
    const records = this.ledger.next(count);
    const byPartition = new Map<number, SourceRecord[]>();
    for (const record of records) {
      const partition = record.id % this.#partitions;
      byPartition.set(partition, [...(byPartition.get(partition) ?? []), record]);
    }
    for (const [partition, part] of byPartition) await this.#send(partition, part);
  }

  /** A broker that does not lead the partition yet has stored nothing: it is asked again. */
  async #send(partition: number, records: readonly SourceRecord[]): Promise<void> {
    const producer = await this.#openProducer();
    const messages = records.map(({ id, poison }) => ({ key: String(id), value: poison ? poisonOf(id) : valueOf(id), partition }));
    for (;;) {
      try {
        const [written] = await producer.send({ topic: this.pipeline.topic, compression: CompressionTypes.GZIP, messages });
        this.ledger.landed(partition, BigInt(written?.baseOffset ?? '-1'), records);
        return;
      } catch (error) {
        if (!isRefusedByNonLeader(error)) throw error;
        await sleep(lookMs);
      }
    }
  }

  /** Produces small parts, one after another. */
  async trickle(parts: number): Promise<void> {
    for (let part = 0; part < parts; part += 1) {
      await this.produce(20 + Math.floor(this.random.next() * 40));
      await sleep(60);
    }
  }

  /** Deletes a topic and waits until the broker has forgotten it. */
  async deleteTopic(topic: string): Promise<void> {
    const { admin } = this.workload;
    // It may not have been made yet, or not again.
    if (!(await admin.listTopics()).includes(topic)) return;
    await admin.deleteTopics({ topics: [topic] });
    await eventually(`topic ${topic} is gone`, async () => !(await admin.listTopics()).includes(topic));
  }

  /** A new incarnation of the source topic, with its own partitions. */
  async createSource(partitions: number): Promise<void> {
    this.#partitions = partitions;
    await this.#closeProducer();
    await this.workload.createTopic({ ...this.pipeline, partitions });
  }

  async addPartitions(count: number): Promise<void> {
    await this.#closeProducer();
    await this.workload.admin.createPartitions({ topicPartitions: [{ topic: this.pipeline.topic, count }] });
    await eventually('the new partitions are led', async () => {
      const { topics } = await this.workload.admin.fetchTopicMetadata({ topics: [this.pipeline.topic] });
      return topics[0]?.partitions.filter(({ leader }) => leader >= 0).length === count;
    });
    this.#partitions = count;
  }

  /** Runs a command of the product beside what runs; it must be done, or lose to another writer. */
  async command(...args: readonly string[]): Promise<void> {
    const { code, log } = await runProduct({ config: this.pipeline.config, args });
    if (code !== 0 && code !== lostToAnotherWriter) throw new Error(`${args.join(' ')} ended with code ${String(code)}:\n${log}`);
  }

  /**
   * Waits until everything produced is committed and published. A partition that stands still because its topic is another one is cured on
   * the way, as the documentation says: a restart with a decision.
   */
  async settle(): Promise<void> {
    let last = '';
    try {
      await eventually(
        'everything is through',
        async () => {
          this.#expectAlive();
          const pages = await Promise.all(this.#replicas.map((replica) => replica.status()));
          last = JSON.stringify(pages);
          if (pages.some((page) => page.tables.some(({ ingest }) => ingest === 'discontinuity'))) {
            this.story.push('cure: accept');
            await this.terminateAll();
            this.start({ args: acceptDiscontinuity });
            return false;
          }
          const through = pages.some((page) => this.#isThrough(page));
          if (!through) await sleep(lookMs);
          return through;
        },
        drainDeadlineMs,
      );
    } catch (error) {
      const logs = this.#replicas.map(({ log }) => log.slice(-6_000)).join('\n--\n');
      throw new Error(`${String(error)}\nstatus: ${last}\nlogs:\n${logs}`, { cause: error });
    }
  }

  #isThrough(page: StatusPage): boolean {
    const table = page.tables[0];
    const committed = [...this.ledger.ends].every(
      ([partition, end]) => table?.partitions.find((entry) => entry.partition === partition)?.committedOffset === end,
    );
    return committed && page.feeds.some(({ lagVersions, publishedVersion }) => lagVersions === 0 && publishedVersion === table?.version);
  }

  #expectAlive(): void {
    for (const replica of this.#replicas) {
      if (replica.exit !== undefined) throw new Error(`a process ended with ${JSON.stringify(replica.exit)}:\n${replica.log}`);
    }
  }

  async #openProducer(): Promise<Producer> {
    if (this.#producer === undefined) {
      this.#producer = this.workload.kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner, retry: { retries: 0 } });
      await this.#producer.connect();
    }
    return this.#producer;
  }

  /** It knows the partitions and the leaders of before. */
  async #closeProducer(): Promise<void> {
    await this.#producer?.disconnect();
    this.#producer = undefined;
  }
}

const notLeader = 6;

function isRefusedByNonLeader(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) if ('code' in at && at.code === notLeader) return true;
  return false;
}
