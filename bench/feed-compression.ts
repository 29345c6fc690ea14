import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import { maxRecordBatchBytes } from '../src/cdf/partitioned-batches.ts';
import { type Compression, compress, decompress } from '../src/kafka/records/compression.ts';

/** Question: what does each compression of a feed's records cost per row, and what does it save? zstd is read by us and not written. */
const rounds = 30;
const codecs: readonly Compression[] = ['none', 'snappy', 'lz4', 'gzip'];

/** Change events of the sample flights as a feed writes them, packed into batches as a feed closes them. */
function batches(): { readonly packed: readonly Uint8Array[]; readonly rows: number } {
  const lines = brotliDecompressSync(readFileSync(new URL('../examples/data/flights-2013-01.ndjson.br', import.meta.url)))
    .toString()
    .trimEnd()
    .split('\n');
  const packed: Uint8Array[] = [];
  let open: string[] = [];
  let size = 0;
  lines.forEach((line, index) => {
    const source = `{"version":"0.1.0","connector":"tidewater","name":"flights-demo","ts_ms":${1_700_000_000_000 + index},"table":"flights","commit_version":${index >> 8},"ordinal":${index & 255}}`;
    const event = `{"before":null,"after":${line},"source":${source},"op":"c","ts_ms":${1_700_000_000_500 + index}}`;
    open.push(event);
    size += event.length;
    if (size < maxRecordBatchBytes && index < lines.length - 1) return;
    packed.push(new TextEncoder().encode(open.join('')));
    [open, size] = [[], 0];
  });
  return { packed, rows: lines.length };
}

function microsPerRow(work: () => void, rows: number): number {
  const times = Array.from({ length: rounds }, () => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return user + system;
  });
  // The fastest: what others on the machine do can only add.
  return Math.min(...times) / rows;
}

const { packed, rows } = batches();
for (const codec of codecs) {
  const compressed = packed.map((batch) => compress(codec, batch));
  const bytes = compressed.reduce((sum, batch) => sum + batch.length, 0);
  const write = microsPerRow(() => {
    for (const batch of packed) compress(codec, batch);
  }, rows);
  const read = microsPerRow(() => {
    for (const batch of compressed) decompress(codec, batch);
  }, rows);
  console.log(
    `${codec.padEnd(7)} ${(bytes / rows).toFixed(0).padStart(4)} bytes a row, ${write.toFixed(2)} us to pack, ${read.toFixed(2)} us to unpack`,
  );
}
