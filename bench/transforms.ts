// What does a select of ten expressions cost an ingest? The whole way of a batch in its thread (unpack, decode, compute, encode, store in memory), with and
// without. Rates are rows per second of CPU, the engine's threads and garbage collection included.
//   node --import ./test/support/run-typescript.mjs bench/transforms.ts     one JSON line a contender
import { tmpdir } from 'node:os';
import { LazyEngine } from '../src/app/lazy-engine.ts';
import { InThreadBatchStager } from '../src/app/workers/batch-stager.ts';
import { inertFailpoint } from '../src/base/failpoint.ts';
import { RandomIdSource } from '../src/base/ids.ts';
import { SystemClock } from '../src/base/system-clock.ts';
import { SystemRandom } from '../src/base/system-random.ts';
import { requireTransform } from '../src/ingest/transform/compile-transform.ts';
import type { TransformSettings } from '../src/ingest/transform/transform-settings.ts';
import { MemoryObjectStore } from '../src/storage/memory-object-store.ts';
import { orderMembers, orderRow, type Packed, packed, recordBatches, stageTask } from './staged-orders.ts';

const rows = 250_000;
const perBatch = 1_000;
const rounds = 5;
const clock = new SystemClock();

const expressions = [
  'order_id + 1 AS order_id',
  'customer_id % 1000 AS customer_id',
  'CAST(amount * 2 AS decimal(12,2)) AS amount',
  'upper(status) AS status',
  "concat(city, ', NO') AS city",
  'substring(street, 1, 12) AS street',
  'lower(email) AS email',
  'timestamp_seconds(unix_seconds(ts)) AS ts',
  'CASE WHEN quantity > 5 THEN quantity ELSE 0 END AS quantity',
  "coalesce(note, 'none') AS note",
];

async function measure(name: string, settings: TransformSettings | undefined, given: Packed): Promise<void> {
  const ids = new RandomIdSource(new SystemRandom());
  const engine = new LazyEngine({ memoryLimitBytes: 256 * 2 ** 20, threads: 1, temporaryDirectory: tmpdir(), ids });
  const store = new MemoryObjectStore({ name: 'bench', clock });
  const options = { openStore: () => store, clock, failpoint: inertFailpoint, maxNestingDepth: 16, openEngine: () => engine.open() };
  const stager = new InThreadBatchStager(options);
  const transform = settings === undefined ? undefined : requireTransform('orders', settings, { record: orderRow, table: orderRow });
  const task = stageTask(given, rows, transform);
  let fastest = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round += 1) {
    const before = process.cpuUsage();
    const { rowCount } = await stager.stage({ ...task, fileNameStem: `round-${round}` });
    const { user, system } = process.cpuUsage(before);
    if (rowCount !== rows) throw new Error(`${rowCount} rows of ${rows}`);
    fastest = Math.min(fastest, (user + system) / 1e6);
  }
  await engine.close();
  process.stdout.write(`${JSON.stringify({ transform: name, rowsPerCpuSecond: Math.round(rows / fastest) })}\n`);
}

const costly = expressions.map((each) => (each.endsWith('AS email') ? "regexp_replace(email, '[0-9]', '*') AS email" : each));

const given = packed(recordBatches(rows, perBatch, orderMembers));
await measure('none', undefined, given);
await measure('where', { where: 'quantity >= 0' }, given);
await measure('select of ten expressions', { select: expressions }, given);
await measure('select of ten expressions, a regular expression among them', { select: costly }, given);
await measure(
  'select of ten expressions, where and two expectations',
  {
    select: expressions,
    where: 'quantity >= 0',
    expect: [
      { name: 'positive', condition: 'amount >= 0', onFailure: 'reject' },
      { name: 'known', condition: "status <> ''", onFailure: 'count' },
    ],
  },
  given,
);
