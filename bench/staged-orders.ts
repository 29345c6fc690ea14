import { toEpochMs } from '../src/base/clock.ts';
import { parseColumnType } from '../src/expr/parse/column-type.ts';
import { readBatchHeader } from '../src/kafka/records/batch-header.ts';
import { encodeRecordBatch } from '../src/kafka/records/record-batch.ts';
import type { PackedRecordBatch, StageTask } from '../src/protocol/sealed-batch.ts';
import type { StructType } from '../src/schema/types.ts';

/** Rows of the benches that stage whole batches in one thread. */
export const orderRow: StructType = structOf(
  'struct<order_id:long,customer_id:long,amount:decimal(12,2),status:string,city:string,street:string,email:string,ts:timestamp,quantity:int,note:string>',
);

function structOf(text: string): StructType {
  const type = parseColumnType(text);
  if (type.kind !== 'struct') throw new Error(`${text} is no struct`);
  return type;
}

/** The members of one record; two in three have a note. */
export function orderMembers(i: number): Readonly<Record<string, string | number | undefined>> {
  return {
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
  };
}

/** Record batches of `perBatch` records each, as they are fetched. */
export function recordBatches(rows: number, perBatch: number, payload: (index: number) => unknown): readonly Uint8Array[] {
  return Array.from({ length: rows / perBatch }, (_, batch) => {
    const records = Array.from({ length: perBatch }, (_each, index) => ({
      value: Buffer.from(JSON.stringify(payload(batch * perBatch + index))),
      timestampMs: toEpochMs(0),
    }));
    return encodeRecordBatch({ topic: 'orders', partition: 0, records, compression: 'none' }).bytes;
  });
}

export type Packed = Pick<StageTask['batch'], 'bytes' | 'recordBatches'>;

/** `about`: what else is known of each of them. */
export function packed(batches: readonly Uint8Array[], about: Pick<PackedRecordBatch, 'checked'> = {}): Packed {
  const recordBatches: PackedRecordBatch[] = [];
  let end = 0;
  for (const bytes of batches) {
    const { baseOffset: fromOffset } = readBatchHeader(bytes);
    recordBatches.push({ topic: 'orders', partition: 0, start: end, end: end + bytes.length, fromOffset, ...about });
    end += bytes.length;
  }
  const bytes = new Uint8Array(end);
  for (const [index, { start }] of recordBatches.entries()) bytes.set(batches[index] ?? bytes, start);
  return { bytes: bytes.buffer, recordBatches };
}

/** Decodes and stages batches as files of one table in memory. */
export function stageTask(given: Packed, recordCount: number, transform?: StageTask['decode']['transform']): StageTask {
  return {
    batch: { ...given, table: 'orders', sequence: 0, ranges: [], recordCount, maxTimestampMs: 0, sealedBy: 'rows', openedAtMs: 0 },
    write: {
      location: 'memory://bench',
      schema: orderRow,
      partitionColumns: [],
      partitionColumnsInFile: false,
      compression: 'zstd',
      partitionPathStyle: 'hive-delta',
      statisticsColumns: 32,
    },
    decode: { sources: orderRow.fields.map(({ name }) => ({ kind: 'value', name })), unknownMembers: 'ignore', transform },
    fileNameStem: 'bench',
  };
}
