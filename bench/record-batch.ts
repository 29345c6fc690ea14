import { printJson } from '../src/base/bigint-json.ts';
import { SystemClock } from '../src/base/system-clock.ts';
import type { Compression } from '../src/kafka/records/compression.ts';
import { crc32c } from '../src/kafka/records/crc32c.ts';
import { RecordBatchBuilder } from '../src/kafka/records/record-batch-builder.ts';
import { RecordCursor } from '../src/kafka/records/record-cursor.ts';

/** Question: how many 230-byte records per second does one core encode into record batches and walk through again? */
const clock = new SystemClock();
const recordCount = 500_000;
const batchRecords = 2_000;
const rounds = 3;

const text = new TextEncoder();
const source = text.encode(
  Array.from(
    { length: 64 },
    (_, index) => `{"id":${1_000_000 + index},"customer":"c-${index * 7919}",`.padEnd(218, 'abcdefghij') + '"}',
  ).join(''),
);

function encode(compression: Compression): readonly Uint8Array[] {
  const builder = new RecordBatchBuilder({ compression });
  const batches: Uint8Array[] = [];
  for (let index = 0; index < recordCount; index += 1) {
    const at = (index & 63) * 220;
    builder.appendRanges(source, {
      keyStart: at + 6,
      keyEnd: at + 13,
      valueStart: at,
      valueEnd: at + 220,
      timestampMs: 1_700_000_000_000 + index,
    });
    if (builder.recordCount === batchRecords) batches.push(builder.finish().bytes);
  }
  return batches;
}

function decode(batches: readonly Uint8Array[], verifyCrc: boolean): number {
  let sum = 0;
  for (const batch of batches) {
    const cursor = new RecordCursor(batch, { verifyCrc });
    while (cursor.next()) sum += cursor.valueEnd - cursor.valueStart + cursor.offsetDelta;
  }
  return sum;
}

function best(run: () => unknown): number {
  let bestMs = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round += 1) {
    const startMs = clock.monotonicMs();
    run();
    bestMs = Math.min(bestMs, clock.monotonicMs() - startMs);
  }
  return Math.round((recordCount * 1000) / bestMs);
}

const codecs: readonly Compression[] = ['none', 'lz4', 'snappy', 'gzip'];
for (const compression of codecs) {
  const batches = encode(compression);
  const bytes = batches.reduce((sum, batch) => sum + batch.length, 0);
  console.log(
    printJson({
      codec: compression,
      bytesPerRecord: Math.round(bytes / recordCount),
      encodePerSecond: best(() => encode(compression)),
      decodePerSecond: best(() => decode(batches, true)),
      decodeUncheckedPerSecond: best(() => decode(batches, false)),
    }),
  );
}
const block = new Uint8Array(64 * 1024 * 1024).fill(7);
const startMs = clock.monotonicMs();
crc32c(block);
console.log(printJson({ crcMegabytesPerSecond: Math.round((64 * 1000) / (clock.monotonicMs() - startMs)) }));
