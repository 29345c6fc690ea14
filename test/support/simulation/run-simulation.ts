import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { present } from '../../../src/base/assert.ts';
import { describeError } from '../../../src/base/errors.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { buildBatch } from '../../../src/codec/build-columns.ts';
import { writeParquet } from '../../../src/codec/parquet/write-parquet.ts';
import type { TableFormat } from '../../../src/table/formats.ts';
import type { HistoryEntry, QueryableTable } from '../../../src/table/table.ts';
import { SimulatedClock } from '../simulated-clock.ts';
import { HashedIds } from './hashed-ids.ts';
import { checkKeyed } from './keyed-records.ts';
import { openOutsideEngine } from './outside.ts';
import { rawIcebergVersions } from './raw-iceberg.ts';
import { RawFiles, rawVersions } from './raw-table.ts';
import { Scenario } from './scenario.ts';
import { simulatedTables } from './simulated-tables.ts';
import { changesTopic, deadLetterTopic, type Sabotage, SimulatedWorld, sourceTopic, tableLocation, tableName } from './simulated-world.ts';
import {
  checkFiles,
  checkGarbage,
  checkLedger,
  checkLog,
  checkMarks,
  checkReplay,
  checkRewrites,
  type TableEvidence,
} from './table-checks.ts';
import { checkChanges, checkSource, readTopic } from './topic-checks.ts';

export interface SimulationOptions {
  readonly seed: number;
  /** Simulated time under load and faults. */
  readonly activeMs: number;
  readonly sabotage?: Sabotage | undefined;
  /** Default: delta. */
  readonly format?: TableFormat | undefined;
  /** Into a table with one row for each key. */
  readonly keyed?: boolean | undefined;
}

export interface SimulationReport {
  readonly seed: number;
  /** Broken invariants; empty is what everybody hopes for. */
  readonly violations: readonly string[];
  /** What happened how often. */
  readonly counts: ReadonlyMap<string, number>;
  /** Fingerprint of everything that was stored and published. */
  readonly history: string;
}

const simulatedLimitMs = 30 * 24 * 3_600_000;

/** Runs one seeded history to its quiet end and checks it. */
export async function runSimulation(options: SimulationOptions): Promise<SimulationReport> {
  await warmUp();
  const clock = new SimulatedClock();
  if (options.keyed !== true) return runIn(new SimulatedWorld(options, { clock, engine: undefined, directory: undefined }), options);
  const engine = await openOutsideEngine(clock);
  const directory = mkdtempSync(join(tmpdir(), 'simulation-'));
  const world = new SimulatedWorld(options, { clock, engine, directory });
  try {
    return await runIn(world, options);
  } finally {
    for (const index of world.keyIndexes) await index.close();
    await engine.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function runIn(world: SimulatedWorld, options: SimulationOptions): Promise<SimulationReport> {
  let ended = false;
  const running = new Scenario(world)
    .run(options.activeMs)
    .catch((error: unknown) => {
      world.unexpected.push(`the scenario failed: ${describeError(error)}`);
    })
    .finally(() => {
      ended = true;
    });
  const finished = await world.clock.runUntil(() => ended, simulatedLimitMs);
  if (finished) await running;
  else world.unexpected.push('liveness: nothing is left that could happen, and the scenario has not ended');
  const violations = finished ? await violationsOf(world) : [];
  return { seed: world.seed, violations: [...world.unexpected, ...violations], counts: world.counts, history: await historyOf(world) };
}

async function violationsOf(world: SimulatedWorld): Promise<readonly string[]> {
  const { store } = world;
  const evidence: TableEvidence = {
    versions: world.format === 'delta' ? rawVersions(store) : rawIcebergVersions(store),
    files: new RawFiles(store),
    store,
  };
  const driven = <T>(work: Promise<T>): Promise<T> => drive(world, work);
  world.counts.set('versions', evidence.versions.length);
  if (world.engine !== undefined) {
    const { engine } = world;
    return [
      ...checkLog(evidence),
      ...checkLedger(evidence, world.reported, await driven(remainingHistory(world))),
      ...(await driven(openTable(world).then((table) => checkKeyed(world, table, engine)))),
    ];
  }
  return [
    ...checkLog(evidence),
    ...checkReplay(evidence),
    ...(await checkMarks(evidence)),
    ...(await checkFiles(evidence)),
    ...(await checkGarbage(evidence)),
    ...(await checkRewrites(evidence)),
    ...checkLedger(evidence, world.reported, await driven(remainingHistory(world))),
    ...(await driven(checkSource(world, evidence))),
    ...(await driven(checkChanges(world, evidence))),
  ].slice(0, 50);
}

/** The broker's answers may take simulated time. */
async function drive<T>(world: SimulatedWorld, work: Promise<T>): Promise<T> {
  let ended = false;
  const watched = work.finally(() => {
    ended = true;
  });
  watched.catch(() => undefined);
  await world.clock.runUntil(() => ended, simulatedLimitMs * 2);
  return watched;
}

/** The history as the product tells it, oldest first: also proof that the table opens after all that happened. */
async function remainingHistory(world: SimulatedWorld): Promise<readonly HistoryEntry[]> {
  return [...(await (await openTable(world)).history({}))].reverse();
}

async function openTable({ store, clock, format, engine }: SimulatedWorld): Promise<QueryableTable> {
  const open = engine === undefined ? undefined : () => Promise.resolve(engine);
  const parts = { store, clock, random: new SeededRandom(3), ids: new HashedIds('audit'), version: 'audit', engine: open };
  return present(await simulatedTables(format, parts).open(tableName, tableLocation), 'the table is there');
}

async function historyOf(world: SimulatedWorld): Promise<string> {
  const hash = createHash('sha256');
  for (const { path, bytes, atMs } of [...world.store.written.values()]) {
    if (path.startsWith('_delta_log/') || path.startsWith('metadata/')) hash.update(`${path} ${atMs}\n`).update(bytes);
  }
  const text = (bytes: Uint8Array | undefined): string => (bytes === undefined ? '-' : Buffer.from(bytes).toString('base64'));
  for (const topic of [sourceTopic, deadLetterTopic, changesTopic]) {
    for (const record of await drive(world, readTopic(world.observer, topic, false))) {
      const headers = record.headers.map(([name, value]) => `${name}=${text(value)}`).join();
      hash.update(`${topic} ${record.partition} ${record.offset} ${text(record.key)} ${text(record.value)} ${headers}\n`);
    }
  }
  return hash.digest('hex');
}

/** Libraries that load themselves at first use do so before simulated time begins. */
async function warmUp(): Promise<void> {
  await writeParquet([buildBatch({ kind: 'struct', fields: [{ name: 'a', type: { kind: 'long' }, nullable: true }] }, [{ a: 1n }])], {
    compression: 'zstd',
  });
}
