// How many payloads a second become columns on one thread: JSON beside JSON.parse alone, the same rows in Avro beside avsc's objects, as events of
// Debezium beside plain rows of as many bytes? Rates are rows per second of CPU, garbage collection included.
//   node --import ./test/support/run-typescript.mjs bench/payload-decode.ts [flights.ndjson.zst]     one JSON line a workload and contender
import { readFileSync } from 'node:fs';
import avsc from 'avsc';
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
  readonly envelope?: 'debezium';
}

const structOf = (fields: Readonly<Record<string, DataType>>): StructType => ({
  kind: 'struct',
  fields: Object.entries(fields).map(([name, type]) => ({ name, type, nullable: true })),
});

const long = { kind: 'long' } as const;
const string = { kind: 'string' } as const;

const ordersSchemaFields: Readonly<Record<string, DataType>> = {
  order_id: long,
  customer_id: long,
  amount: { kind: 'double' },
  status: string,
  ts: { kind: 'timestamp' },
  address: structOf({ street: string, city: string, zip: string, country: string }),
  tags: { kind: 'list', element: string, elementNullable: true },
};
const ordersSchema = (amount: DataType): StructType => structOf({ ...ordersSchemaFields, amount });

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

/** What Debezium writes around a row. */
function eventParts(i: number): string {
  const source = `"source":{"version":"3.7.0.Final","connector":"postgresql","name":"shop","ts_ms":${baseMs + i},"snapshot":"false","db":"shop","sequence":"[\\"30362408\\",\\"30362488\\"]","ts_us":${baseMs + i}903,"ts_ns":${baseMs + i}903000,"schema":"public","table":"orders","txId":928,"lsn":${30_362_488 + i},"xmin":null}`;
  return `${source},"transaction":null,"op":"c","ts_ms":${baseMs + i}`;
}

function workloads(): readonly Workload[] {
  const range = Array.from({ length: rowsPerBatch }, (_, i) => i);
  const orders = range.map((i) => orderText(i, false));
  const list: Workload[] = [
    { name: 'orders', schema: ordersSchema({ kind: 'double' }), texts: orders },
    { name: 'orders, amount decimal(12,2)', schema: ordersSchema({ kind: 'decimal', precision: 12, scale: 2 }), texts: orders },
    { name: 'orders with spaces', schema: ordersSchema({ kind: 'double' }), texts: range.map((i) => orderText(i, true)) },
  ];
  const event = structOf({ ...ordersSchemaFields, __op: string, __lsn: long });
  list.push(
    {
      name: 'orders as events of Debezium',
      schema: event,
      texts: range.map((i) => `{"before":null,"after":${orderText(i, false)},${eventParts(i)}}`),
      envelope: 'debezium',
    },
    {
      name: 'orders with as many bytes as the events',
      schema: ordersSchema({ kind: 'double' }),
      texts: range.map((i) => `${orderText(i, false).slice(0, -1)},${eventParts(i)},"before":null}`),
    },
  );
  const flights = process.argv[2];
  if (flights !== undefined) {
    const lines = new TextDecoder().decode(unpackZstd(readFileSync(flights), 2 ** 30)).split('\n', rowsPerBatch + 1);
    list.push({ name: 'flights', schema: flightsSchema, texts: lines.filter((line) => line !== '').slice(0, rowsPerBatch) });
  }
  return list;
}

/** All payloads in one buffer, as records lie in an unpacked record batch. */
function packed(payloads: readonly Buffer[]): { readonly bytes: Uint8Array; readonly ends: Int32Array } {
  const bytes = new Uint8Array(Buffer.concat(payloads));
  const ends = new Int32Array(payloads.length);
  let end = 0;
  payloads.forEach((payload, i) => {
    end += payload.length;
    ends[i] = end;
  });
  return { bytes, ends };
}

const orderSchema = {
  type: 'record',
  name: 'Order',
  fields: [
    { name: 'order_id', type: 'long' },
    { name: 'customer_id', type: 'long' },
    { name: 'amount', type: 'double' },
    { name: 'status', type: 'string' },
    { name: 'ts', type: { type: 'long', logicalType: 'timestamp-micros' } },
    {
      name: 'address',
      type: {
        type: 'record',
        name: 'Address',
        fields: ['street', 'city', 'zip', 'country'].map((name) => ({ name, type: 'string' })),
      },
    },
    { name: 'tags', type: { type: 'array', items: 'string' } },
  ],
} as const;
const orderType = avsc.Type.forSchema(orderSchema as unknown as avsc.Schema);

/** The same rows in Avro, as one record after the other. */
function inAvro(texts: readonly string[]): readonly Buffer[] {
  return texts.map((text) => {
    const order = JSON.parse(text) as { readonly ts: string };
    return orderType.toBuffer({ ...order, ts: Date.parse(order.ts) * 1000 });
  });
}

function measure(workload: Workload, contender: string, bytes: Uint8Array, run: () => number): void {
  const rates: number[] = [];
  for (let round = 0; round < rounds + warmUpRounds; round += 1) {
    const start = process.cpuUsage();
    const rows = run();
    if (rows !== workload.texts.length) throw new Error(`${workload.name}: ${rows} rows of ${workload.texts.length}`);
    if (round >= warmUpRounds) rates.push(rows / secondsSince(start));
  }
  rates.sort((a, b) => a - b);
  console.log(
    JSON.stringify({
      workload: workload.name,
      contender,
      bytesPerRow: Math.round(bytes.length / workload.texts.length),
      medianRowsPerSecond: Math.round(rates[rates.length >> 1] ?? 0),
      worstRowsPerSecond: Math.round(rates[0] ?? 0),
      bestRowsPerSecond: Math.round(rates.at(-1) ?? 0),
    }),
  );
}

function secondsSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1e6;
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
  const { bytes, ends } = packed(workload.texts.map((text) => Buffer.from(text)));
  const decoder = new RecordDecoder(workload.schema, {
    sources: workload.schema.fields.map((field) => ({ kind: 'value', name: field.name })),
    unknownMembers: 'ignore',
    value: { kind: 'json', framed: false, envelope: workload.envelope },
  });
  measure(workload, 'JSON to columns', bytes, () => decodeAll(decoder, bytes, ends));
  const text = Buffer.from(bytes.buffer);
  measure(workload, 'JSON.parse alone', bytes, () => {
    let start = 0;
    let rows = 0;
    for (const end of ends) {
      if (JSON.parse(text.toString('utf8', start, end)) !== null) rows += 1;
      start = end;
    }
    return rows;
  });
  if (workload.name !== 'orders') continue;
  const avro = packed(inAvro(workload.texts));
  const avroDecoder = new RecordDecoder(workload.schema, {
    sources: workload.schema.fields.map((field) => ({ kind: 'value', name: field.name })),
    unknownMembers: 'ignore',
    value: { kind: 'avro', schemas: 'given', schema: JSON.stringify(orderSchema), framed: false },
  });
  measure(workload, 'Avro to columns', avro.bytes, () => decodeAll(avroDecoder, avro.bytes, avro.ends));
  const buffer = Buffer.from(avro.bytes.buffer);
  measure(workload, 'avsc objects alone', avro.bytes, () => {
    let start = 0;
    let rows = 0;
    for (const end of avro.ends) {
      if (orderType.fromBuffer(buffer.subarray(start, end)) !== null) rows += 1;
      start = end;
    }
    return rows;
  });
}
