/**
 * Rows per second of one thread from columns to Parquet bytes, and of the statistics beside it. Run the compiled file with node;
 * arguments: rows (200000), repetitions (9).
 */
import { RecordBatchStreamWriter } from 'apache-arrow';
import { SystemClock } from '../src/base/system-clock.ts';
import { toArrowBatch } from '../src/codec/parquet/arrow-data.ts';
import { toArrowSchema } from '../src/codec/parquet/arrow-schema.ts';
import type { ParquetCompression } from '../src/codec/parquet/encoding-policy.ts';
import { readParquet } from '../src/codec/parquet/read-parquet.ts';
import { insideParquet, loadParquet } from '../src/codec/parquet/wasm.ts';
import { writeParquet } from '../src/codec/parquet/write-parquet.ts';
import { columnStatistics } from '../src/codec/statistics.ts';
import type { ColumnBatch } from '../src/schema/columns.ts';
import { takeRows } from '../src/schema/take.ts';
import type { DataType } from '../src/schema/types.ts';
import { ordersBatch } from './orders-batch.ts';

const clock = new SystemClock();
const rowCount = 200_000;
const repetitions = 9;

async function measure(name: string, work: () => unknown): Promise<void> {
  const times: number[] = [];
  let result: unknown;
  for (let run = 0; run < repetitions; run++) {
    const start = clock.monotonicMs();
    result = await work();
    times.push(clock.monotonicMs() - start);
  }
  times.sort((left, right) => left - right);
  const [best = 0, median = 0] = [times[0], times[repetitions >> 1]];
  const size = result instanceof Uint8Array ? `${(result.length / rowCount).toFixed(1)} B/row` : '';

  console.log(
    `${name.padEnd(36)} best ${best.toFixed(0)} ms, median ${median.toFixed(0)} ms, ${(rowCount / best).toFixed(0)} k rows/s ${size}`,
  );
}

/** The library's own defaults, for comparison with the policy. */
async function writeWithDefaults(batch: ColumnBatch, compression: ParquetCompression): Promise<Uint8Array> {
  const parquet = await loadParquet();
  const schema = toArrowSchema(batch.schema);
  const ipc = RecordBatchStreamWriter.writeAll([toArrowBatch(batch, schema)]).toUint8Array(true);
  const codec = compression === 'zstd' ? parquet.Compression.ZSTD : parquet.Compression.SNAPPY;
  return insideParquet({ code: 'PARQUET_WRITE_REFUSED', kind: 'invalid' }, () =>
    parquet.writeParquet(parquet.Table.fromIPCStream(ipc), new parquet.WriterPropertiesBuilder().setCompression(codec).build()),
  );
}

const amounts: readonly DataType[] = [{ kind: 'double' }, { kind: 'decimal', precision: 12, scale: 2 }];
for (const amount of amounts) {
  const batch = ordersBatch(rowCount, amount);
  for (const compression of ['snappy', 'zstd'] as const) {
    await measure(`${amount.kind} ${compression}, policy`, () => writeParquet([batch], { compression }));
    await measure(`${amount.kind} ${compression}, library defaults`, () => writeWithDefaults(batch, compression));
  }
  await measure(`${amount.kind} statistics`, () => columnStatistics(batch, { indexedColumns: -1 }));
  const bytes = await writeParquet([batch], { compression: 'zstd' });
  await measure(`${amount.kind} read`, () => readParquet(bytes));
  const everyOther = Int32Array.from({ length: rowCount / 2 }, (_, index) => 2 * index);
  await measure(`${amount.kind} take every other row`, () => takeRows(batch, everyOther));
}
