import { type IdSource, RandomIdSource } from '../../../src/base/ids.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import type { CommitObserver } from '../../../src/commit/commit-observer.ts';
import { silentCommitObserver } from '../../../src/commit/commit-observer.ts';
import { type CommitterSettings, TableCommitter } from '../../../src/commit/table-committer.ts';
import { DeltaTables } from '../../../src/delta/delta-tables.ts';
import { MemoryObjectStore } from '../../../src/storage/memory-object-store.ts';
import type { ObjectStore } from '../../../src/storage/object-store.ts';
import { type AppendIntent, toCommitId } from '../../../src/table/commit.ts';
import type { Table, TableDefinition } from '../../../src/table/table.ts';
import { FaultyObjectStore } from '../../support/faulty-object-store.ts';
import { intercepted } from '../../support/intercepted-store.ts';
import { StepClock } from '../../support/step-clock.ts';

export const writer = 'p:orders:0:c:t';

const definition: TableDefinition = {
  schema: { kind: 'struct', fields: [{ name: 'id', type: { kind: 'long' }, nullable: true }] },
  partitionColumns: [],
  properties: {},
};

/** A Delta table in faulty storage, seen by any number of writers. */
export class CommitBench {
  readonly clock: StepClock = new StepClock();
  readonly ids: IdSource = new RandomIdSource(new SeededRandom(1));
  readonly memory: MemoryObjectStore = new MemoryObjectStore({ name: 't', clock: this.clock });
  readonly store: FaultyObjectStore;
  /** What the committer told its observer. */
  readonly log: string[] = [];
  /** Runs right before each commit of the committer under test reaches the storage. */
  beforePut: () => Promise<void> = () => Promise.resolve();

  constructor() {
    this.store = new FaultyObjectStore(this.memory, { clock: this.clock, random: new SeededRandom(2) });
  }

  async committer(settings: Partial<CommitterSettings> = {}): Promise<{ readonly table: Table; readonly committer: TableCommitter }> {
    const putIfAbsent: ObjectStore['putIfAbsent'] = async (path, bytes, signal) => {
      await this.beforePut();
      return this.store.putIfAbsent(path, bytes, signal);
    };
    const table = await this.#open(intercepted(this.store, { putIfAbsent }));
    const committer = new TableCommitter({
      table,
      clock: this.clock,
      random: new SeededRandom(3),
      observer: this.observer,
      settings: { maxRebaseAttempts: 5, verifyTimeoutMs: 1_000, backoff: { initialMs: 10, maxMs: 100 }, ...settings },
    });
    this.log.length = 0;
    return { table, committer };
  }

  get observer(): CommitObserver {
    return {
      ...silentCommitObserver,
      attempt: (result) => this.log.push(result),
      resolved: (as) => this.log.push(`resolved ${as}`),
      discarded: () => this.log.push('discarded'),
    };
  }

  /** Another program on the same storage, without faults. */
  other(): Promise<Table> {
    return this.#open(this.memory);
  }

  /** A version of somebody else, moving a mark when one is given. */
  async foreignVersion(mark?: { readonly from: bigint | undefined; readonly until: bigint }): Promise<void> {
    const table = await this.other();
    const progress = mark === undefined ? [] : [{ writerId: writer, ...mark }];
    await table.tryAppend(await table.refresh(), { ...this.intent(undefined, 0n), progress });
  }

  intent(from: bigint | undefined, until: bigint): AppendIntent {
    const id = this.ids.uuid();
    return {
      commitId: toCommitId(id),
      files: [{ path: `part-${id}.parquet`, partitionValues: {}, sizeBytes: 10, rowCount: 1, modifiedMs: 1, statistics: [] }],
      stagedSinceMs: this.clock.monotonicMs(),
      progress: [{ writerId: writer, from, until }],
      userMetadata: '',
    };
  }

  #open(store: ObjectStore): Promise<Table> {
    const rewriter = { rewrite: () => Promise.reject(new TypeError('not used')) };
    const parts = { clock: this.clock, ids: this.ids, random: new SeededRandom(4), version: 'test', rewriter };
    return new DeltaTables({ ...parts, openStore: () => store }).create('orders', 'memory://t', definition);
  }
}
