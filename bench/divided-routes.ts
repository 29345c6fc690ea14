// What does it cost to divide a topic among twenty tables by a member? The whole way of a fetch in its thread: divided, then each table's batches unpacked,
// decoded, encoded and stored in memory; beside it the same records as rows of one table. Rates are rows per second of CPU, garbage collection included.
//   node --import ./test/support/run-typescript.mjs bench/divided-routes.ts     one JSON line a contender
import { BatchDivider } from '../src/app/workers/batch-divider.ts';
import { InThreadBatchStager } from '../src/app/workers/batch-stager.ts';
import { inertFailpoint } from '../src/base/failpoint.ts';
import { SystemClock } from '../src/base/system-clock.ts';
import type { DivisionSpec } from '../src/protocol/division.ts';
import { MemoryObjectStore } from '../src/storage/memory-object-store.ts';
import { orderMembers, type Packed, packed, recordBatches, stageTask } from './staged-orders.ts';

const rows = 240_000;
const perBatch = 1_000;
const tables = 20;
const rounds = 6;
const clock = new SystemClock();

const division: DivisionSpec = {
  key: { kind: 'member', path: ['type'], type: 'string' },
  value: { kind: 'json', framed: false },
  parts: Array.from({ length: tables }, (_, index) => ({ table: `t${index}`, values: [`type-${index}`] })),
  unmatched: 'reject',
};

/** `runOf`: so many records of one table follow each other. */
function fetched(runOf: number): readonly Uint8Array[] {
  return recordBatches(rows, perBatch, (i) => ({ type: `type-${Math.floor(i / runOf) % tables}`, ...orderMembers(i) }));
}

const divider = new BatchDivider({ maxNestingDepth: 16 });

/** What each table gets of what was fetched, four megabytes at a time as fetches bring it. */
function divided(batches: readonly Uint8Array[]): readonly Packed[] {
  const perTable: Uint8Array[][] = division.parts.map(() => []);
  const perFetch = 16;
  for (let from = 0; from < batches.length; from += perFetch) {
    const { bytes, recordBatches } = packed(batches.slice(from, from + perFetch));
    const spans = recordBatches.map(({ start, end }) => ({ start, end }));
    const task = { spec: division, topic: 'orders', partition: 0, bytes: new Uint8Array(bytes), batches: spans, unopened: [], schemas: [] };
    for (const [index, part] of divider.divide(task).parts.entries())
      for (const { start, end } of part.batches) perTable[index]?.push(part.bytes.subarray(start, end));
  }
  return perTable.map((of) => packed(of, { checked: true }));
}

/** One way from what was fetched to files. */
class Contender {
  readonly #name: string;
  readonly #batches: readonly Uint8Array[];
  readonly #partsOf: (all: readonly Uint8Array[]) => readonly Packed[];
  readonly #stager: InThreadBatchStager;
  #fastest = Number.POSITIVE_INFINITY;

  constructor(name: string, batches: readonly Uint8Array[], partsOf: (all: readonly Uint8Array[]) => readonly Packed[]) {
    [this.#name, this.#batches, this.#partsOf] = [name, batches, partsOf];
    const store = new MemoryObjectStore({ name: 'bench', clock });
    this.#stager = new InThreadBatchStager({ openStore: () => store, clock, failpoint: inertFailpoint, maxNestingDepth: 16 });
  }

  async run(round: number): Promise<void> {
    const before = process.cpuUsage();
    let count = 0;
    for (const [index, part] of this.#partsOf(this.#batches).entries()) {
      const { rowCount } = await this.#stager.stage({ ...stageTask(part, rows), fileNameStem: `round-${round}-${index}` });
      count += rowCount;
    }
    const { user, system } = process.cpuUsage(before);
    if (count !== rows) throw new Error(`${count} rows of ${rows}`);
    this.#fastest = Math.min(this.#fastest, (user + system) / 1e6);
  }

  report(): number {
    const rowsPerCpuSecond = Math.round(rows / this.#fastest);
    process.stdout.write(`${JSON.stringify({ tables: this.#name, rowsPerCpuSecond })}\n`);
    return rowsPerCpuSecond;
  }
}

const mixed = fetched(1);
const contenders = [
  new Contender('one', mixed, (all) => [packed(all)]),
  new Contender('twenty, each batch has records of all', mixed, divided),
  new Contender('twenty, each batch is of one', fetched(perBatch), divided),
];
// In turns, so that what else the machine does meets all of them.
for (let round = 0; round < rounds; round += 1) for (const contender of contenders) await contender.run(round);
const [one = 0, ...others] = contenders.map((contender) => contender.report());
process.stdout.write(`${JSON.stringify({ share: others.map((rate) => Math.round((rate / one) * 100) / 100) })}\n`);
