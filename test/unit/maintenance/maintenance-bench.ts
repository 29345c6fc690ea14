import { describeError } from '../../../src/base/errors.ts';
import { inertFailpoint } from '../../../src/base/failpoint.ts';
import { type IdSource, RandomIdSource } from '../../../src/base/ids.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { FileSystemCatalog } from '../../../src/catalog/file-system-catalog.ts';
import { buildBatch } from '../../../src/codec/build-columns.ts';
import { writeDataFiles } from '../../../src/commit/file-writer.ts';
import { DeltaTables } from '../../../src/delta/delta-tables.ts';
import { ParquetFileRewriter } from '../../../src/maintenance/file-rewriter.ts';
import type { JobRunnerParts } from '../../../src/maintenance/job-runner.ts';
import type { MaintenanceSettings } from '../../../src/maintenance/settings.ts';
import { MemoryObjectStore } from '../../../src/storage/memory-object-store.ts';
import { toCommitId } from '../../../src/table/commit.ts';
import type { Table } from '../../../src/table/table.ts';
import type { Version } from '../../../src/table/version.ts';
import { FaultyObjectStore } from '../../support/faulty-object-store.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

export const maintenanceSettings: MaintenanceSettings = {
  enabled: true,
  sweepIntervalMs: 1_000,
  queuePrefix: 'test',
  concurrency: 1,
  maxAttempts: 2,
  jobTimeoutMs: 60_000,
  compaction: { enabled: true, targetFileBytes: 1 << 20, minInputFiles: 3, maxGroups: 4 },
  vacuum: { enabled: true, retentionMs: undefined, intervalMs: 86_400_000 },
  checkpoint: { enabled: true, minVersions: 3 },
  expiry: { enabled: true, retentionMs: undefined, minVersions: 5 },
  manifests: { enabled: true, minManifests: 8 },
  feedHold: { maxAgeMs: undefined, past: 'hold' },
  deleteFiles: { enabled: true, minFiles: 20 },
  engine: { memoryLimitBytes: 128 << 20, threads: 1, temporaryDirectory: undefined },
  allowedLocations: [],
};

/** A catalog of two tables, `orders` (written to) and `empty` (which nobody has made), over faulty storage and simulated time. */
export class MaintenanceBench {
  readonly clock: SimulatedClock = new SimulatedClock();
  readonly store: FaultyObjectStore;
  readonly catalog: FileSystemCatalog;
  /** What the observer was told. */
  readonly log: string[] = [];
  watermark: Version | undefined;
  readonly #ids: IdSource = new RandomIdSource(new SeededRandom(1));

  constructor() {
    const { clock } = this;
    this.store = new FaultyObjectStore(new MemoryObjectStore({ name: 'orders', clock }), { clock, random: new SeededRandom(2) });
    const nothing = new MemoryObjectStore({ name: 'empty', clock });
    const openStore = (location: string): FaultyObjectStore | MemoryObjectStore => (location.endsWith('orders') ? this.store : nothing);
    const rewriter = new ParquetFileRewriter({ openStore });
    const delta = new DeltaTables({ openStore, clock, random: new SeededRandom(3), ids: this.#ids, version: 'test', rewriter });
    const definition = {
      schema: { kind: 'struct', fields: [{ name: 'id', type: { kind: 'long' }, nullable: false }] },
      partitionColumns: [],
      properties: { 'delta.checkpointInterval': '100' },
    } as const;
    this.catalog = new FileSystemCatalog(
      [
        { name: 'empty', format: 'delta', location: 'memory://empty' },
        { name: 'orders', format: 'delta', location: 'memory://orders', definition },
      ],
      { delta },
    );
  }

  get parts(): JobRunnerParts {
    return {
      catalog: this.catalog,
      watermarks: { lowWatermark: () => Promise.resolve(this.watermark) },
      settings: maintenanceSettings,
      clock: this.clock,
      observer: {
        queued: ({ kind, reason }) => this.log.push(`queued ${kind}: ${reason}`),
        started: ({ kind }) => this.log.push(`started ${kind}`),
        finished: ({ kind }, { result }) => this.log.push(`finished ${kind}: ${result}`),
        refused: ({ kind }, error) => this.log.push(`refused ${kind}: ${describeError(error)}`),
        failed: ({ kind }, error) => this.log.push(`failed ${kind}: ${describeError(error)}`),
        stopped: ({ kind }) => this.log.push(`stopped ${kind}`),
        health: (table, { files, smallFiles }) => this.log.push(`health ${table}: ${files} files, ${smallFiles} small`),
        sweepFailed: (table, error) => this.log.push(`sweep failed ${table}: ${describeError(error)}`),
      },
    };
  }

  /** Appends files of one row each, a version each. */
  async append(count: number): Promise<Table> {
    const table = await this.catalog.loadOrCreate('orders');
    for (let file = 0; file < count; file += 1) {
      const base = await table.refresh();
      const spec = table.writeSpec(base);
      const batch = buildBatch(spec.schema, [{ id: BigInt(file) }]);
      const { clock, store } = this;
      const { files } = await writeDataFiles({ batch, spec, store, fileNameStem: this.#ids.uuid(), clock, failpoint: inertFailpoint });
      await table.tryAppend(base, { commitId: toCommitId(this.#ids.uuid()), files, progress: [], userMetadata: '' });
    }
    return table;
  }

  /** Lets simulated time pass until the work is done. */
  async finished<T>(work: Promise<T>): Promise<T> {
    let ended = false;
    const watched = work.finally(() => {
      ended = true;
    });
    watched.catch(() => undefined);
    await this.clock.runUntil(() => ended, this.clock.monotonicMs() + 3_600_000);
    return watched;
  }
}
