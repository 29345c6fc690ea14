// How many JSON payloads a second become columns on one thread, beside JSON.parse alone?
//   node json-decode.js [flights.ndjson.zst]     one JSON line a workload and contender
import { readFileSync } from 'node:fs';
import { unpackZstd } from '../src/base/zstd.ts';
import { RecordDecoder } from '../src/ingest/decode/record-decoder.ts';
import type { DataType, StructType } from '../src/schema/types.ts';

const rowsPerBatch = 50_000;
const rounds = 12;
const warmUpRounds = 4;
const baseMs = 1_767_225_600_000;

const statuses = ['created', 'paid', 'packed', 'shipped', 'delivered', 'returned'];
const cities = ['Oslo', 'Berlin', 'Lisbon', 'Toronto', 'Nagoya', 'Austin', 'Lyon', 'Krakow', 'Leeds', 'Turin', 'Quito', 'Perth'];
const countries = ['NO', 'DE', 'PT', 'CA', 'JP', 'US', 'FR', 'PL', 'GB', 'IT', 'EC', 'AU'];
const tags = ['gift', 'express', 'b2b', 'promo', 'fragile', 'repeat', 'mobile', 'web', 'bulk', 'eco', 'vip', 'intl'];

interface Workload {
  readonly name: string;
  readonly schema: StructType;
  readonly texts: readonly string[];
}

const structOf = (fields: Readonly<Record<string, DataType>>): StructType => ({
  kind: 'struct',
  fields: Object.entries(fields).map(([name, type]) => ({ name, type, nullable: true })),
});

const long = { kind: 'long' } as const;
const string = { kind: 'string' } as const;

const ordersSchema = (amount: DataType): StructType =>
  structOf({
    order_id: long,
    customer_id: long,
    amount,
    status: string,
    ts: { kind: 'timestamp' },
    address: structOf({ street: string, city: string, zip: string, country: string }),
    tags: { kind: 'list', element: string, elementNullable: true },
  });

const integer = { kind: 'integer' } as const;
const flightsSchema = structOf({
  flight_id: string,
  year: integer,
  month: integer,
  day: integer,
  dep_time: integer,
  sched_dep_time: integer,
  dep_delay: { kind: 'double' },
  arr_time: integer,
  sched_arr_time: integer,
  arr_delay: { kind: 'double' },
  carrier: string,
  flight: integer,
  tailnum: string,
  origin: string,
  dest: string,
  air_time: { kind: 'double' },
  distance: { kind: 'double' },
  hour: integer,
  minute: integer,
  time_hour: { kind: 'timestamp' },
});

// Spread like a hash, reproducible, cheap.
const mixed = (i: number, salt: number, bound: number): number => Math.abs(Math.imul(i + salt, 0x9e37_79b1) >>> 3) % bound;

function orderText(i: number, spaced: boolean): string {
  const record = {
    order_id: i,
    customer_id: mixed(i, 1, 500_000),
    amount: (mixed(i, 2, 100_000) + 1) / 100,
    status: statuses[mixed(i, 3, 6)],
    ts: new Date(baseMs + i).toISOString(),
    address: {
      street: `${mixed(i, 4, 9_900) + 100} Main Street`,
      city: cities[mixed(i, 5, 12)],
      zip: String(mixed(i, 6, 100_000)).padStart(5, '0'),
      country: countries[mixed(i, 7, 12)],
    },
    tags: [tags[mixed(i, 8, 12)], tags[mixed(i, 9, 12)], tags[mixed(i, 10, 12)]],
  };
  const text = JSON.stringify(record);
  // The way Python's json.dumps prints by default.
  return spaced ? text.replaceAll('":', '": ').replaceAll(',"', ', "') : text;
}

function workloads(): readonly Workload[] {
  const range = Array.from({ length: rowsPerBatch }, (_, i) => i);
  const orders = range.map((i) => orderText(i, false));
  const list: Workload[] = [
    { name: 'orders', schema: ordersSchema({ kind: 'double' }), texts: orders },
    { name: 'orders, amount decimal(12,2)', schema: ordersSchema({ kind: 'decimal', precision: 12, scale: 2 }), texts: orders },
    { name: 'orders with spaces', schema: ordersSchema({ kind: 'double' }), texts: range.map((i) => orderText(i, true)) },
  ];
  const flights = process.argv[2];
  if (flights !== undefined) {
    const lines = new TextDecoder().decode(unpackZstd(readFileSync(flights), 2 ** 30)).split('\n', rowsPerBatch + 1);
    list.push({ name: 'flights', schema: flightsSchema, texts: lines.filter((line) => line !== '').slice(0, rowsPerBatch) });
  }
  return list;
}

/** All texts in one buffer, as records lie in an unpacked record batch. */
function packed(texts: readonly string[]): { readonly bytes: Uint8Array; readonly ends: Int32Array } {
  const bytes = new Uint8Array(Buffer.from(texts.join('')));
  const ends = new Int32Array(texts.length);
  let end = 0;
  texts.forEach((text, i) => {
    end += Buffer.byteLength(text);
    ends[i] = end;
  });
  return { bytes, ends };
}

function measure(workload: Workload, contender: string, run: () => number): void {
  const rates: number[] = [];
  for (let round = 0; round < rounds + warmUpRounds; round += 1) {
    const startMs = performance.now();
    const rows = run();
    if (rows !== workload.texts.length) throw new Error(`${workload.name}: ${rows} rows of ${workload.texts.length}`);
    if (round >= warmUpRounds) rates.push((rows / (performance.now() - startMs)) * 1000);
  }
  rates.sort((a, b) => a - b);
  const bytes = workload.texts.reduce((sum, text) => sum + text.length, 0);
  console.log(
    JSON.stringify({
      workload: workload.name,
      contender,
      bytesPerRow: Math.round(bytes / workload.texts.length),
      medianRowsPerSecond: Math.round(rates[rates.length >> 1] ?? 0),
      worstRowsPerSecond: Math.round(rates[0] ?? 0),
      bestRowsPerSecond: Math.round(rates.at(-1) ?? 0),
    }),
  );
}

function decodeAll(decoder: RecordDecoder, bytes: Uint8Array, ends: Int32Array): number {
  const record = {
    data: bytes,
    keyStart: -1,
    keyEnd: -1,
    valueStart: 0,
    valueEnd: 0,
    timestampMs: baseMs,
    offset: () => 0n,
    headers: () => [],
  };
  for (const end of ends) {
    record.valueEnd = end;
    const rejection = decoder.decode(record);
    if (rejection !== undefined) throw new Error(rejection.message);
    record.valueStart = end;
  }
  return decoder.finish().rowCount;
}

for (const workload of workloads()) {
  const { bytes, ends } = packed(workload.texts);
  const decoder = new RecordDecoder(workload.schema, {
    sources: workload.schema.fields.map((field) => ({ kind: 'value', name: field.name })),
    unknownMembers: 'ignore',
  });
  measure(workload, 'columns', () => decodeAll(decoder, bytes, ends));
  const text = Buffer.from(bytes.buffer);
  measure(workload, 'JSON.parse alone', () => {
    let start = 0;
    let rows = 0;
    for (const end of ends) {
      if (JSON.parse(text.toString('utf8', start, end)) !== null) rows += 1;
      start = end;
    }
    return rows;
  });
}
