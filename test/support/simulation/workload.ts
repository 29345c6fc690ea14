import { isServiceError } from '../../../src/base/errors.ts';
import { inertFailpoint } from '../../../src/base/failpoint.ts';
import { type Random, randomInt } from '../../../src/base/random.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { buildBatch } from '../../../src/codec/build-columns.ts';
import { writeDataFiles } from '../../../src/commit/file-writer.ts';
import type { EncodedRecordBatch, KafkaProducer, OutgoingRecord, TransactionalProducer } from '../../../src/kafka/client.ts';
import { encodeRecordBatch } from '../../../src/kafka/records/record-batch.ts';
import type { RejectReason } from '../../../src/protocol/sealed-batch.ts';
import { toCommitId } from '../../../src/table/commit.ts';
import type { Table } from '../../../src/table/table.ts';
import { HashedIds } from './hashed-ids.ts';
import { KeyedRecords } from './keyed-records.ts';
import { simulatedTables, storesBelow } from './simulated-tables.ts';
import { type SimulatedWorld, sourceTopic, tableLocation, tableName } from './simulated-world.ts';

const text = (value: string): Uint8Array => Buffer.from(value);
const cities = ['ams', 'ber', 'öre bro', 'a/b=c', 'x'.repeat(90)];

/** Writes records of all kinds to the source topic, in and out of transactions, some of them aborted. */
export class Workload {
  readonly #world: SimulatedWorld;
  readonly #random: Random;
  #plain: KafkaProducer | undefined;
  #transactional: TransactionalProducer | undefined;
  #nextId = 0;
  readonly #keyed: KeyedRecords | undefined;
  /** Nothing is produced meanwhile. */
  paused = false;

  constructor(world: SimulatedWorld) {
    this.#world = world;
    this.#random = world.fork();
    this.#keyed = world.keyedBy === undefined ? undefined : new KeyedRecords(world.keyedBy, world.shape.partitions, world.fork());
  }

  async run(until: () => boolean): Promise<void> {
    const client = this.#world.broker.client('producer');
    while (!until()) {
      await this.#world.clock.sleep(this.paused ? 5_000 : 5 + randomInt(this.#random, 150));
      if (this.paused) continue;
      if (this.#random.next() < 0.7) {
        this.#plain ??= await client.producer();
        await this.#plain.send([this.#batch()]);
      } else {
        this.#transactional ??= await client.openTransactional({ transactionalId: 'producer' });
        await this.#transaction(this.#transactional);
      }
    }
  }

  async #transaction(producer: TransactionalProducer): Promise<void> {
    const fate = this.#random.next();
    if (fate < 0.4) {
      const operation = fate < 0.2 ? 'end-transaction' : 'produce';
      this.#world.broker.inject({ operation, when: fate < 0.1 ? 'after' : 'before', clientId: 'producer' });
    }
    const batches = Array.from({ length: 1 + randomInt(this.#random, 3) }, () => this.#batch());
    try {
      await producer.publish(batches);
    } catch (error) {
      if (!isServiceError(error, 'unavailable', 'unknown-outcome')) throw error;
      this.#world.count('source transaction aborted or unknown');
      this.#transactional = undefined;
    }
  }

  #batch(): EncodedRecordBatch {
    const ofKeys = this.#keyed?.partition();
    const records = Array.from({ length: 1 + randomInt(this.#random, 25) }, () => this.#record(ofKeys));
    return encodeRecordBatch({ topic: sourceTopic, partition: ofKeys ?? randomInt(this.#random, this.#world.shape.partitions), records });
  }

  /** The header says what must become of the record. */
  #record(partition = 0): OutgoingRecord {
    const id = this.#nextId++;
    const valid = (): string => this.#keyed?.next(id, partition) ?? this.#valid(id);
    const [expected, value] = this.#random.next() < 0.93 ? (['row', valid()] as const) : this.#poison(id);
    const headers = [['expect', text(expected)]] as const;
    return { key: text(`k${id}`), value: value === undefined ? undefined : text(value), timestampMs: this.#world.clock.now(), headers };
  }

  #valid(id: number): string {
    const city = cities[randomInt(this.#random, cities.length)] ?? 'ams';
    const amount = this.#random.next() < 0.2 ? 'null' : `${randomInt(this.#random, 100_000)}.${10 + randomInt(this.#random, 90)}`;
    return `{"id":${id},"city":"${city}","amount":${amount}}`;
  }

  #poison(id: number): readonly [RejectReason, string | undefined] {
    const kinds: readonly (readonly [RejectReason, string | undefined])[] = [
      ['invalid-json', `{"id":${id},"city":"ams"`],
      ['missing-required', `{"city":"ber"}`],
      ['wrong-type', `{"id":"x${id}","city":"ber"}`],
      ['out-of-range', `{"id":${id},"city":"ber","amount":0.001}`],
      ['null-value', undefined],
      // Only where partition values are text in which the empty string means null.
      ...(this.#world.shape.partitioned && this.#world.format === 'delta'
        ? ([['missing-required', `{"id":${id},"city":""}`]] as const)
        : []),
    ];
    return kinds[randomInt(this.#random, kinds.length)] ?? ['null-value', undefined];
  }
}

/** Another program that appends rows to the table now and then and knows nothing of marks. */
export class ForeignWriter {
  readonly #world: SimulatedWorld;
  readonly #ids = new HashedIds('foreign');
  readonly #random = new SeededRandom(1);
  #table: Table | undefined;
  #nextOffset = 0;

  constructor(world: SimulatedWorld) {
    this.#world = world;
  }

  async append(): Promise<void> {
    const { clock, store, format } = this.#world;
    const parts = { store, clock, random: this.#random, ids: this.#ids, version: 'foreign' };
    this.#table ??= await simulatedTables(format, parts).open(tableName, tableLocation);
    const table = this.#table;
    if (table === undefined) return;
    let base = await table.refresh();
    const spec = table.writeSpec(base);
    const { keyedBy, foreignKeys } = this.#world;
    const rows = [0, 1].map(() => ({
      id: keyedBy === undefined ? -1 : -1 - this.#nextOffset,
      n: 0,
      gone: undefined,
      city: 'foreign',
      amount: undefined,
      source_partition: -1,
      source_offset: this.#nextOffset++,
    }));
    const batch = buildBatch(spec.schema, rows);
    const { files } = await writeDataFiles({
      batch,
      spec,
      store: storesBelow(store)(spec.location),
      fileNameStem: this.#ids.uuid(),
      clock,
      failpoint: inertFailpoint,
    });
    const intent = { commitId: toCommitId(this.#ids.uuid()), files, progress: [], userMetadata: 'foreign' };
    while ((await table.tryAppend(base, intent)).kind === 'conflicted') base = await table.refresh();
    if (keyedBy !== undefined) foreignKeys.push(...rows.map(({ id }) => id));
    this.#world.count('foreign append');
  }
}
