import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import { toEpochMs } from '../src/base/clock.ts';
import { SystemClock } from '../src/base/system-clock.ts';
import { ParquetChangeEncoder } from '../src/cdf/change-encoder.ts';
import { buildBatch, type InputRow } from '../src/codec/build-columns.ts';
import { writeParquet } from '../src/codec/parquet/write-parquet.ts';
import { type EncodeSpec, type EncodeTask, type EventEncoding, plainRecords } from '../src/protocol/change-event.ts';
import type { StructType } from '../src/schema/types.ts';
import { MemoryObjectStore } from '../src/storage/memory-object-store.ts';
import { toVersion } from '../src/table/version.ts';

/** Question: what does each encoding of a feed's records cost per row, from the columns of a file to batches that are not compressed? */
const rounds = 15;
const rowCount = 100_000;

const schema: StructType = {
  kind: 'struct',
  fields: [
    { name: 'id', type: { kind: 'long' }, nullable: false },
    { name: 'carrier', type: { kind: 'string' }, nullable: true },
    { name: 'flight', type: { kind: 'integer' }, nullable: true },
    { name: 'tailnum', type: { kind: 'string' }, nullable: true },
    { name: 'origin', type: { kind: 'string' }, nullable: true },
    { name: 'dest', type: { kind: 'string' }, nullable: true },
    { name: 'distance', type: { kind: 'double' }, nullable: true },
    { name: 'delay', type: { kind: 'integer' }, nullable: true },
    { name: 'price', type: { kind: 'decimal', precision: 12, scale: 2 }, nullable: true },
    { name: 'day', type: { kind: 'date' }, nullable: true },
    { name: 'at', type: { kind: 'timestamp' }, nullable: true },
  ],
};

function flights(): readonly InputRow[] {
  const lines = brotliDecompressSync(readFileSync(new URL('../examples/data/flights-2013-01.ndjson.br', import.meta.url)))
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Readonly<Record<string, string | number | null>>);
  return Array.from({ length: rowCount }, (_, index) => {
    const line = lines[index % lines.length] ?? {};
    const text = (name: string): string | null => (typeof line[name] === 'string' ? line[name] : null);
    const number = (name: string): number | null => (typeof line[name] === 'number' ? line[name] : null);
    return {
      id: BigInt(index) * 7n,
      carrier: text('carrier'),
      flight: number('flight'),
      tailnum: text('tailnum'),
      origin: text('origin'),
      dest: text('dest'),
      distance: number('distance'),
      delay: number('dep_delay') ?? number('delay'),
      price: `${index % 1000}.${String(index % 100).padStart(2, '0')}`,
      day: 15_706 + (index % 31),
      at: BigInt(1_357_000_000_000_000 + index * 1_000_001),
    };
  });
}

const store = new MemoryObjectStore({ name: 'bench', clock: new SystemClock() });
const bytes = await writeParquet([buildBatch(schema, flights())], { compression: 'snappy' });
await store.putIfAbsent('rows.parquet', bytes);
const spec: EncodeSpec = {
  pipeline: 'bench',
  envelope: 'debezium',
  records: plainRecords,
  schemas: false,
  select: [],
  where: undefined,
  topic: 'cdf.flights',
  partitions: 4,
  keyColumns: ['id'],
  tombstones: true,
  transactions: false,
  truncates: false,
  table: 'flights',
  tableId: 'bench',
  format: 'delta',
  location: 'memory://bench',
  compression: 'none',
};
const file = { path: 'rows.parquet', kind: 'insert', sizeBytes: bytes.length, rowCount, partitionValues: {} } as const;
const changes = { version: toVersion(1), committedAt: toEpochMs(1_700_000_000_000), schema, partitionColumns: [], files: [file] };

async function microsPerRow(task: EncodeTask): Promise<{ readonly micros: number; readonly size: number }> {
  const encoder = new ParquetChangeEncoder({
    openStore: () => store,
    openEngine: () => Promise.reject(new Error('no engine')),
    maxHeldBytes: 1e9,
  });
  // The file is read by the first run and held by the encoder while rows are left.
  await encoder.encode({ ...task, maxRows: 1 });
  let [best, size] = [Number.POSITIVE_INFINITY, 0];
  for (let round = 0; round < rounds; round++) {
    const before = process.cpuUsage();
    const encoded = await encoder.encode({ ...task, maxRows: rowCount - 1 });
    const { user, system } = process.cpuUsage(before);
    // The fastest: what others on the machine do can only add.
    best = Math.min(best, user + system);
    size = encoded.batches.reduce((sum, batch) => sum + batch.bytes.length, 0);
  }
  return { micros: best / rowCount, size: size / rowCount };
}

for (const envelope of ['debezium', 'flat', 'after'] as const) {
  for (const encoding of ['json', 'avro', 'protobuf'] satisfies readonly EventEncoding[]) {
    const task = { spec: { ...spec, envelope, records: { ...plainRecords, encoding } }, changes, snapshot: false, fromOrdinal: 0 };
    const { micros, size } = await microsPerRow({ ...task, maxRows: rowCount, maxBytes: 1e12, schemaIds: { key: 1, value: 2 } });
    console.log(`${envelope.padEnd(9)} ${encoding.padEnd(9)} ${micros.toFixed(2)} us a row, ${size.toFixed(0)} bytes a row`);
  }
}
