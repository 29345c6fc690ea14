// What does a select of ten expressions cost an ingest? The whole way of a batch in its thread (unpack, decode, compute, encode, store in memory), with and
// without. Rates are rows per second of CPU, the engine's threads and garbage collection included.
//   node --import ./test/support/run-typescript.mjs bench/transforms.ts     one JSON line a contender
import { tmpdir } from 'node:os';
import { LazyEngine } from '../src/app/lazy-engine.ts';
import { InThreadBatchStager } from '../src/app/workers/batch-stager.ts';
import { toEpochMs } from '../src/base/clock.ts';
import { inertFailpoint } from '../src/base/failpoint.ts';
import { RandomIdSource } from '../src/base/ids.ts';
import { SystemClock } from '../src/base/system-clock.ts';
import { SystemRandom } from '../src/base/system-random.ts';
import { parseColumnType } from '../src/expr/parse/column-type.ts';
import { requireTransform } from '../src/ingest/transform/compile-transform.ts';
import type { TransformSettings } from '../src/ingest/transform/transform-settings.ts';
import { encodeRecordBatch } from '../src/kafka/records/record-batch.ts';
import type { PackedRecordBatch, StageTask } from '../src/protocol/sealed-batch.ts';
import type { StructType } from '../src/schema/types.ts';
import { MemoryObjectStore } from '../src/storage/memory-object-store.ts';

const rows = 250_000;
const perBatch = 1_000;
const rounds = 5;
const clock = new SystemClock();

const record = structOf(
  'struct<order_id:long,customer_id:long,amount:decimal(12,2),status:string,city:string,street:string,email:string,ts:timestamp,quantity:int,note:string>',
);
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

function structOf(text: string): StructType {
  const type = parseColumnType(text);
  if (type.kind !== 'struct') throw new Error(`${text} is no struct`);
  return type;
}

function batches(): Pick<StageTask['batch'], 'bytes' | 'recordBatches'> {
  const parts: Uint8Array[] = [];
  const recordBatches: PackedRecordBatch[] = [];
  let end = 0;
  for (let from = 0; from < rows; from += perBatch) {
    const records = Array.from({ length: perBatch }, (_, index) => ({
      value: Buffer.from(payload(from + index)),
      timestampMs: toEpochMs(0),
    }));
    const { bytes } = encodeRecordBatch({ topic: 'orders', partition: 0, records, compression: 'none' });
    recordBatches.push({ topic: 'orders', partition: 0, start: end, end: end + bytes.length, fromOffset: 0n });
    parts.push(bytes);
    end += bytes.length;
  }
  return { bytes: new Uint8Array(Buffer.concat(parts)).buffer, recordBatches };
}

function payload(i: number): string {
  return JSON.stringify({
    order_id: i,
    customer_id: (i * 7_919) % 500_000,
    amount: ((i * 31) % 100_000) / 100,
    status: ['created', 'paid', 'packed', 'shipped'][i % 4],
    city: ['Oslo', 'Berlin', 'Lisbon', 'Toronto', 'Nagoya'][i % 5],
    street: `${i % 9_900} Main Street`,
    email: `customer.${i % 500_000}@example.com`,
    ts: new Date(1_767_225_600_000 + i).toISOString(),
    quantity: i % 9,
    ...(i % 3 === 0 ? {} : { note: `left at the door ${i % 100}` }),
  });
}

async function measure(name: string, settings: TransformSettings | undefined, given: ReturnType<typeof batches>): Promise<void> {
  const ids = new RandomIdSource(new SystemRandom());
  const engine = new LazyEngine({ memoryLimitBytes: 256 * 2 ** 20, threads: 1, temporaryDirectory: tmpdir(), ids });
  const store = new MemoryObjectStore({ name: 'bench', clock });
  const options = { openStore: () => store, clock, failpoint: inertFailpoint, maxNestingDepth: 16, openEngine: () => engine.open() };
  const stager = new InThreadBatchStager(options);
  const transform = settings === undefined ? undefined : requireTransform('orders', settings, { record, table: record });
  const task = taskOf(given, transform);
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

function taskOf(given: ReturnType<typeof batches>, transform: StageTask['decode']['transform']): StageTask {
  return {
    batch: { ...given, table: 'orders', sequence: 0, ranges: [], recordCount: rows, maxTimestampMs: 0, sealedBy: 'rows', openedAtMs: 0 },
    write: {
      location: 'memory://bench',
      schema: record,
      partitionColumns: [],
      partitionColumnsInFile: false,
      compression: 'zstd',
      partitionPathStyle: 'hive-delta',
      statisticsColumns: 32,
    },
    decode: { sources: record.fields.map(({ name }) => ({ kind: 'value', name })), unknownMembers: 'ignore', transform },
    fileNameStem: 'bench',
  };
}

const costly = expressions.map((each) => (each.endsWith('AS email') ? "regexp_replace(email, '[0-9]', '*') AS email" : each));

const given = batches();
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
