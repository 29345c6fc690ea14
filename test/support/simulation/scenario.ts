import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { firstNeededVersion } from '../../../src/cdf/feed-position.ts';
import { feedIdOf } from '../../../src/cdf/feed-spec.ts';
import { PositionStore } from '../../../src/cdf/position-store.ts';
import type { OpenEngine } from '../../../src/engine/engine.ts';
import { parseWriterId } from '../../../src/protocol/source-offsets.ts';
import type { Table } from '../../../src/table/table.ts';
import type { FaultRates } from '../faulty-object-store.ts';
import { HashedIds } from './hashed-ids.ts';
import { SimulatedProcess } from './simulated-process.ts';
import { simulatedTables } from './simulated-tables.ts';
import { deadLetterTopic, pipeline, retentionMs, type SimulatedWorld, sourceTopic, tableLocation, tableName } from './simulated-world.ts';
import { ForeignWriter, Workload } from './workload.ts';

const quiesceLimitMs = 120_000;

/** One run: processes live and die under load and faults, then everything calms down and drains. */
export class Scenario {
  readonly #world: SimulatedWorld;
  readonly #foreign: ForeignWriter;
  readonly #workload: Workload;
  #live: SimulatedProcess[] = [];
  #waking: Promise<void>[] = [];
  #started = 0;
  #producing = true;
  #nightMs = 0;
  #opened = 0;
  readonly #operatorRandom = new SeededRandom(2);

  constructor(world: SimulatedWorld) {
    this.#world = world;
    this.#foreign = new ForeignWriter(world);
    this.#workload = new Workload(world);
  }

  async run(activeMs: number): Promise<void> {
    const world = this.#world;
    await world.observer.admin.ensureTopics([
      { topic: sourceTopic, partitions: world.shape.partitions },
      { topic: deadLetterTopic, partitions: 1 },
    ]);
    for (let index = 0; index < world.shape.processes; index += 1) this.#startProcess(index === 0);
    const workload = this.#workload.run(() => !this.#producing);
    const untilMs = world.clock.monotonicMs() + activeMs;
    while (world.clock.monotonicMs() < untilMs + this.#nightMs) {
      await world.clock.sleep(world.between(20, 500));
      await this.#act();
    }
    this.#producing = false;
    await workload;
    await this.#quiesce();
    await this.#finalVacuum();
  }

  async #act(): Promise<void> {
    const world = this.#world;
    world.broker.sweep(world.clock.monotonicMs());
    const actions: readonly (readonly [weight: number, act: () => Promise<void> | void])[] = [
      [3, () => this.#crash()],
      [
        3,
        () => {
          this.#suspend();
        },
      ],
      [2, () => this.#replace()],
      [2, () => world.broker.rebalance('sim-orders')],
      [
        4,
        () => {
          this.#storageTrouble();
        },
      ],
      [
        4,
        () => {
          this.#brokerTrouble();
        },
      ],
      [
        3,
        () => {
          this.#losePublishAnswer();
        },
      ],
      [2, () => this.#foreign.append()],
      [
        1,
        () => {
          this.#moveFeed();
        },
      ],
      [0.5, () => this.#night()],
      [4, () => undefined],
    ];
    let draw = world.random.next() * actions.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, act] of actions) {
      draw -= weight;
      if (draw >= 0) continue;
      await act();
      return;
    }
  }

  #startProcess(feed: boolean): void {
    this.#started += 1;
    const process = new SimulatedProcess(this.#world, `w${this.#started}`);
    this.#live.push(process);
    process.start({ feed });
  }

  #anyone(): SimulatedProcess | undefined {
    return this.#live[Math.floor(this.#world.random.next() * this.#live.length)];
  }

  async #crash(): Promise<void> {
    const victim = this.#anyone();
    if (victim === undefined) return;
    this.#world.count('crash');
    victim.crash();
    this.#live = this.#live.filter((process) => process !== victim);
    await this.#world.clock.sleep(this.#world.between(0, 800));
    this.#startProcess(true);
  }

  /** A zombie: it stands still while others go on, then wakes up with everything it had begun. */
  #suspend(): void {
    const world = this.#world;
    const victim = this.#anyone();
    if (victim === undefined || victim.disturbed) return;
    world.count('suspension');
    victim.suspend();
    // Somebody takes over, or the zombie would wake up to an unchanged world.
    if (this.#live.every((process) => process.power.state !== 'on')) this.#startProcess(true);
    const [sleepMs, unawareMs] = [world.between(100, 6_000), world.between(0, 600)];
    this.#waking.push(world.clock.sleep(sleepMs).then(() => victim.resume(unawareMs)));
    // Too many processes make a run slow.
    const surplus = this.#live.length > 5 ? this.#live.find((process) => !process.disturbed) : undefined;
    if (surplus === undefined) return;
    this.#live = this.#live.filter((process) => process !== surplus);
    this.#waking.push(surplus.stop());
  }

  async #replace(): Promise<void> {
    const leaving = this.#anyone();
    if (leaving === undefined || leaving.disturbed) return;
    this.#world.count('rolling restart');
    this.#live = this.#live.filter((process) => process !== leaving);
    this.#startProcess(true);
    await leaving.stop();
  }

  #storageTrouble(): void {
    const { clock, random } = this.#world;
    const victim = this.#anyone();
    if (victim === undefined) return;
    this.#world.count('storage trouble');
    const rates: FaultRates = { before: random.next() * 0.3, after: random.next() * 0.3, maxLatencyMs: random.next() * 80 };
    victim.faults.rates = random.next() < 0.15 ? { before: 1, after: 0, maxLatencyMs: 0 } : rates;
    if (random.next() < 0.5) victim.faults.failNext('putIfAbsent', random.next() < 0.7 ? 'after' : 'before');
    this.#waking.push(
      clock.sleep(this.#world.between(100, 3_000)).then(() => {
        victim.faults.rates = undefined;
      }),
    );
  }

  #brokerTrouble(): void {
    const world = this.#world;
    world.count('broker trouble');
    world.brokerFaultRate = 0.02 + world.random.next() * 0.15;
    this.#waking.push(
      world.clock.sleep(world.between(100, 1_500)).then(() => {
        world.brokerFaultRate = 0;
      }),
    );
  }

  #losePublishAnswer(): void {
    const victim = this.#anyone();
    if (victim === undefined) return;
    const operation = this.#world.chance(0.6) ? 'end-transaction' : 'produce';
    this.#world.broker.inject({ operation, when: this.#world.chance(0.6) ? 'after' : 'before', clientId: victim.name });
  }

  #moveFeed(): void {
    if (this.#live.length > 4) return;
    this.#world.count('second feed');
    this.#startProcess(true);
  }

  /** Everybody goes home; retention passes; everybody is back. */
  async #night(): Promise<void> {
    const { clock } = this.#world;
    this.#world.count('night');
    this.#workload.paused = true;
    await this.#wakeAll();
    await Promise.all(this.#live.map((process) => process.stop()));
    this.#live = [];
    await clock.sleep(retentionMs + 1_000);
    this.#nightMs += retentionMs + 1_000;
    this.#workload.paused = false;
    for (let index = 0; index < this.#world.shape.processes; index += 1) this.#startProcess(index === 0);
  }

  async #wakeAll(): Promise<void> {
    const waking = this.#waking;
    this.#waking = [];
    await Promise.all(waking);
    this.#world.broker.clearFaults();
    this.#world.brokerFaultRate = 0;
  }

  async #quiesce(): Promise<void> {
    const { clock } = this.#world;
    await this.#wakeAll();
    this.#startProcess(true);
    const limitMs = clock.monotonicMs() + quiesceLimitMs;
    const table = await this.#openTable();
    while (!(await this.#drained(table))) {
      if (clock.monotonicMs() > limitMs) {
        this.#world.unexpected.push(`liveness: not drained ${quiesceLimitMs} ms after the last fault`);
        break;
      }
      this.#world.broker.sweep(clock.monotonicMs());
      await clock.sleep(300);
    }
    await Promise.all(this.#live.map((process) => process.stop()));
  }

  /** All that is visible in the source is covered by marks, and all versions are published. */
  async #drained(table: Table): Promise<boolean> {
    const { observer } = this.#world;
    const snapshot = await table.refresh();
    const marks = new Map<number, bigint>();
    for (const [writerId, mark] of snapshot.progressStartingWith(`${pipeline}:`)) {
      const source = parseWriterId(writerId, pipeline);
      if (source !== undefined) marks.set(source.partition, mark);
    }
    for (const { partition, earliest, latest } of await observer.admin.offsets(sourceTopic)) {
      let last = -1n;
      const from = marks.get(partition) ?? earliest;
      for await (const record of observer.readPartition({ topic: sourceTopic, partition, from, until: latest })) last = record.offset;
      if (last >= from) return false;
    }
    const spec = this.#world.feedSpec;
    const positions = await new PositionStore({ client: observer, clock: this.#world.clock, topic: spec.positionsTopic }).readAll();
    const position = positions.get(feedIdOf(spec))?.stored?.position;
    return position !== undefined && firstNeededVersion(position) > snapshot.version;
  }

  /** Long after the last write nothing may be left that no version refers to. */
  async #finalVacuum(): Promise<void> {
    await this.#world.clock.sleep(4 * 3_600_000);
    const table = await this.#openTable();
    await table.vacuum(
      this.#world.format === 'delta' ? { dryRun: false } : { dryRun: false, retentionHours: 1, allowShortRetention: true },
    );
  }

  async #openTable(): Promise<Table> {
    const { clock, store, format } = this.#world;
    const parts = {
      store,
      clock,
      random: this.#operatorRandom,
      ids: new HashedIds(`operator ${this.#opened}`),
      version: 'operator',
      engine: engineOf(this.#world),
    };
    this.#opened += 1;
    const tables = simulatedTables(format, parts);
    return tables.create(tableName, tableLocation, this.#world.definition);
  }
}

function engineOf({ engine }: SimulatedWorld): OpenEngine | undefined {
  return engine === undefined ? undefined : () => Promise.resolve(engine);
}
