// What does it cost to divide a topic among twenty tables by a member? The whole way of a fetch in its thread: divided, then each table's batches unpacked,
// decoded, encoded and stored in memory; beside it the same records as rows of one table. Rates are rows per second of CPU, garbage collection included.
//   node --import ./test/support/run-typescript.mjs bench/divided-routes.ts     one JSON line a contender
import { BatchDivider } from '../src/app/workers/batch-divider.ts';
import { InThreadBatchStager } from '../src/app/workers/batch-stager.ts';
import { toEpochMs } from '../src/base/clock.ts';
import { inertFailpoint } from '../src/base/failpoint.ts';
import { SystemClock } from '../src/base/system-clock.ts';
import { parseColumnType } from '../src/expr/parse/column-type.ts';
import { readBatchHeader } from '../src/kafka/records/batch-header.ts';
import { encodeRecordBatch } from '../src/kafka/records/record-batch.ts';
import type { DivisionSpec } from '../src/protocol/division.ts';
import type { PackedRecordBatch, StageTask } from '../src/protocol/sealed-batch.ts';
import type { StructType } from '../src/schema/types.ts';
import { MemoryObjectStore } from '../src/storage/memory-object-store.ts';

const rows = 240_000;
const perBatch = 1_000;
const tables = 20;
const rounds = 5;
const clock = new SystemClock();

const row = structOf(
  'struct<order_id:long,customer_id:long,amount:decimal(12,2),status:string,city:string,street:string,email:string,ts:timestamp,quantity:int,note:string>',
);
const division: DivisionSpec = {
  key: { kind: 'member', path: ['type'], type: 'string' },
  value: { kind: 'json', framed: false },
  parts: Array.from({ length: tables }, (_, index) => ({ table: `t${index}`, values: [`type-${index}`] })),
  unmatched: 'reject',
};

function structOf(text: string): StructType {
  const type = parseColumnType(text);
  if (type.kind !== 'struct') throw new Error(`${text} is no struct`);
  return type;
}

/** `runOf`: so many records of one table follow each other. */
function fetched(runOf: number): readonly Uint8Array[] {
  return Array.from({ length: rows / perBatch }, (_, batch) => {
    const records = Array.from({ length: perBatch }, (_each, index) => ({
      value: Buffer.from(payload(batch * perBatch + index, runOf)),
      timestampMs: toEpochMs(0),
    }));
    return encodeRecordBatch({ topic: 'events', partition: 0, records, compression: 'none' }).bytes;
  });
}

function payload(i: number, runOf: number): string {
  return JSON.stringify({
    type: `type-${Math.floor(i / runOf) % tables}`,
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

interface Packed {
  readonly bytes: ArrayBuffer;
  readonly recordBatches: readonly PackedRecordBatch[];
}

function packed(batches: readonly Uint8Array[]): Packed {
  const recordBatches: PackedRecordBatch[] = [];
  let end = 0;
  for (const bytes of batches) {
    recordBatches.push({
      topic: 'events',
      partition: 0,
      start: end,
      end: end + bytes.length,
      fromOffset: readBatchHeader(bytes).baseOffset,
    });
    end += bytes.length;
  }
  return { bytes: new Uint8Array(Buffer.concat(batches)).buffer, recordBatches };
}

const divider = new BatchDivider({ maxNestingDepth: 16 });

/** What each table gets of what was fetched, four megabytes at a time as fetches bring it. */
function divided(batches: readonly Uint8Array[]): readonly Packed[] {
  const perTable: Uint8Array[][] = division.parts.map(() => []);
  const perFetch = 16;
  for (let from = 0; from < batches.length; from += perFetch) {
    const { bytes, recordBatches } = packed(batches.slice(from, from + perFetch));
    const spans = recordBatches.map(({ start, end }) => ({ start, end }));
    const task = { spec: division, topic: 'events', partition: 0, bytes: new Uint8Array(bytes), batches: spans, unopened: [], schemas: [] };
    for (const [index, part] of divider.divide(task).parts.entries())
      for (const { start, end } of part.batches) perTable[index]?.push(part.bytes.subarray(start, end));
  }
  return perTable.map(packed);
}

function taskOf(given: Packed, stem: string): StageTask {
  return {
    batch: { ...given, table: 'orders', sequence: 0, ranges: [], recordCount: rows, maxTimestampMs: 0, sealedBy: 'rows', openedAtMs: 0 },
    write: {
      location: 'memory://bench',
      schema: row,
      partitionColumns: [],
      partitionColumnsInFile: false,
      compression: 'zstd',
      partitionPathStyle: 'hive-delta',
      statisticsColumns: 32,
    },
    decode: { sources: row.fields.map(({ name }) => ({ kind: 'value', name })), unknownMembers: 'ignore' },
    fileNameStem: stem,
  };
}

async function measure(
  name: string,
  batches: readonly Uint8Array[],
  partsOf: (all: readonly Uint8Array[]) => readonly Packed[],
): Promise<number> {
  const store = new MemoryObjectStore({ name: 'bench', clock });
  const stager = new InThreadBatchStager({ openStore: () => store, clock, failpoint: inertFailpoint, maxNestingDepth: 16 });
  let fastest = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round += 1) {
    const before = process.cpuUsage();
    let count = 0;
    for (const [index, part] of partsOf(batches).entries()) {
      const { rowCount } = await stager.stage(taskOf(part, `round-${round}-${index}`));
      count += rowCount;
    }
    const { user, system } = process.cpuUsage(before);
    if (count !== rows) throw new Error(`${count} rows of ${rows}`);
    fastest = Math.min(fastest, (user + system) / 1e6);
  }
  const rowsPerCpuSecond = Math.round(rows / fastest);
  process.stdout.write(`${JSON.stringify({ tables: name, rowsPerCpuSecond })}\n`);
  return rowsPerCpuSecond;
}

const mixed = fetched(1);
const one = await measure('one', mixed, (all) => [packed(all)]);
const twenty = await measure('twenty, each batch has records of all', mixed, divided);
const grouped = await measure('twenty, each batch is of one', fetched(perBatch), divided);
process.stdout.write(`${JSON.stringify({ share: [twenty, grouped].map((rate) => Math.round((rate / one) * 100) / 100) })}\n`);
