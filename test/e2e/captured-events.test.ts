import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readIceberg } from '../support/checks-iceberg.ts';
import { readLog } from '../support/checks-log.ts';
import { scan, withDuckDb } from '../support/checks-table.ts';
import { allGoldenEvents, bytesOf, type CapturedEvent } from '../support/golden-events.ts';
import { CapturedRegistry } from '../support/golden-payloads.ts';
import { eventually } from '../support/process.ts';
import { productBench } from '../support/product-bench.ts';
import { kafkaBrokers, redisUrl } from '../support/servers.ts';

/*
 * A topic of Debezium in each of its encodings, through a real broker and a registry into both formats, read by DuckDB: one row for each change. What
 * is in all of their columns is compared without a broker (test/golden/debezium-payloads.test.ts).
 */

const { schemas, events } = allGoldenEvents();
const json = 'format: json, envelope: debezium';
const connect = 'format: connect-json, envelope: debezium';
/** By registry: ids of one mean other schemas in another. */
const groups: readonly (readonly [registry: string, values: Readonly<Record<string, string>>])[] = [
  [
    'av',
    {
      av: 'format: avro, envelope: debezium',
      js: connect,
      my: connect,
      jn: json,
      jt: json,
      crash: json,
      ju: 'format: json, tombstones: skip',
    },
  ],
  ['ac', { ac: 'format: avro, tombstones: skip' }],
  ['ah', { ah: 'format: avro, schemaId: header, envelope: debezium' }],
];
const operations: Readonly<Record<string, string>> = { snapshot: 'r', incremental: 'r', create: 'c', update: 'u', delete: 'd' };
const formats = ['delta', 'iceberg'] as const;
const recoveryMs = 240_000;

function ofCapture(capture: string): readonly CapturedEvent[] {
  return events.filter((each) => each.capture === capture && each.table === (capture === 'my' ? 'items' : 'customers'));
}

function changesOf(capture: string): readonly CapturedEvent[] {
  return ofCapture(capture).filter(({ kind }) => operations[kind] !== undefined);
}

/** Rows that were deleted have their key. */
function textOf(id: unknown, name: unknown, operation: unknown): string {
  return JSON.stringify([String(id), operation === 'd' ? null : name, operation]);
}

describe('captured events of Debezium', () => {
  const { dir, workload, serve } = productBench('captured');

  it.each(groups)(
    'P02: become one row for each change in both formats, from each encoding beside registry %s',
    async (registered, values) => {
      await using registry = new CapturedRegistry(
        schemas.filter(({ capture }) => capture === registered).map(({ id, schema }) => ({ id, schema, references: [], subjects: [] })),
      );
      await registry.start();
      const name = `captured-${registered}-${randomUUID().slice(0, 8)}`;
      mkdirSync(join(dir, name));
      const config = join(dir, name, 'pipeline.yaml');
      const tables = Object.keys(values).flatMap((capture) =>
        formats.map((format) => ({ capture, format, table: `${capture}_${format}` })),
      );
      const tableDir = (table: string): string => join(dir, name, table);
      writeFileSync(
        config,
        `pipeline: ${name}
dataDir: ${join(dir, name)}
kafka: { brokers: [${kafkaBrokers().join(', ')}] }
redis: { url: "${redisUrl()}" }
schemaRegistry: { url: "${registry.url}" }
tables:
${tables
  .map(
    ({ table, format }) => `  - name: ${table}
    format: ${format}
    path: ${tableDir(table)}
    columns: [{ name: id, type: long, nullable: false }, { name: name, type: string }, { name: __op, type: string, nullable: false }]
`,
  )
  .join('')}ingest:
  maxBatchAge: 150ms
  routes:
${tables.map(({ capture, table }) => `    - { topics: [${name}.${capture}], table: ${table}, value: { ${values[capture] ?? ''} } }\n`).join('')}maintenance: { enabled: false }
server: { port: 0 }
logging: { format: json, level: info }
`,
      );
      const producer = workload.kafka.producer({ idempotent: true, maxInFlightRequests: 1 });
      await producer.connect();
      for (const capture of Object.keys(values)) {
        const topic = `${name}.${capture}`;
        await workload.createTopic({ topic, partitions: 1 });
        const messages = ofCapture(capture).map((event) => ({
          key: bytesOf(event, 'key') ?? null,
          value: bytesOf(event, 'value') ?? null,
          headers: Object.fromEntries((event.record.headers ?? []).map(([header, value]) => [header, Buffer.from(value, 'base64')])),
        }));
        for (let from = 0; from < messages.length; from += 200) await producer.send({ topic, messages: messages.slice(from, from + 200) });
      }
      await producer.disconnect();

      const worker = serve({ config });
      const wanted = new Map(tables.map(({ capture, table }) => [table, changesOf(capture).length]));
      await eventually(
        'all rows are there',
        async () => {
          if (worker.exit !== undefined) throw new Error(worker.log);
          const { tables: found } = await worker.status();
          return [...wanted].every(([table, count]) => found.find((each) => each.name === table)?.rowCount === count);
        },
        recoveryMs,
      );
      expect((await worker.metrics()).sum('tidewater_ingest_records_dead_lettered_total')).toBe(0);
      expect((await worker.terminate()).code, worker.log).toBe(0);

      for (const { capture, format, table } of tables) {
        const log = format === 'delta' ? readLog(tableDir(table)) : readIceberg(tableDir(table), { kind: 'files' });
        const read = await withDuckDb(async (db) => {
          const found = await db.runAndReadAll(`select id::varchar id, name, __op from ${scan(tableDir(table), [...log.live.values()])}`);
          return found.getRowObjects().map((row) => textOf(row['id'], row['name'], row['__op']));
        });
        const rows = changesOf(capture).map(({ kind, row }) => {
          const known = JSON.parse(row) as Readonly<Record<string, unknown>>;
          return textOf(known['id'], known['name'], operations[kind]);
        });
        expect(rows.length).toBeGreaterThan(50);
        expect(read.sort(), table).toEqual(rows.sort());
      }
    },
  );
});
