import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { createSession } from '../../../src/app/session.ts';
import { RandomIdSource } from '../../../src/base/ids.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { SystemClock } from '../../../src/base/system-clock.ts';
import { DeltaTables } from '../../../src/delta/delta-tables.ts';
import { IcebergTables } from '../../../src/iceberg/iceberg-tables.ts';
import { openObjectStore } from '../../../src/storage/open-object-store.ts';
import type { Table } from '../../../src/table/table.ts';
import { MemoryPipeline } from '../../support/memory-pipeline.ts';
import { obtainS3Server, startS3Server } from '../../support/s3-server.ts';
import { withTemporaryDirectory } from '../../support/servers.ts';
import { temporarySession } from '../../support/temporary-session.ts';
import { openTestEngine } from '../../support/test-engine.ts';
import { feedBench } from '../../unit/cdf/feed-bench.ts';

const program = await obtainS3Server('gofakes3');
const server = program === undefined ? undefined : await startS3Server('gofakes3', program);
afterAll(() => server?.stop());

const created = {
  delta: "USING delta TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', 'delta.columnMapping.mode' = 'name')",
  iceberg: "USING iceberg TBLPROPERTIES ('write.delete.mode' = 'merge-on-read', 'format-version' = '3')",
};
const inOrc = "ALTER TABLE t SET TBLPROPERTIES ('write.format.default' = 'orc')";

describe.skipIf(server === undefined).each(['delta', 'iceberg'] as const)('a table of %s in a bucket', (format) => {
  const properties = server?.properties() ?? {};
  const fresh = (): string => `s3://${server?.bucket ?? ''}/${randomUUID()}/orders table`;

  it('is published, whatever the age, format and deletes of its files, and folds to its rows', async () => {
    await using own = await temporarySession({ ...properties });
    await using made = { engine: await openTestEngine(), [Symbol.asyncDispose]: () => made.engine.close() };
    const location = fresh();
    const run = async (sql: string): Promise<readonly Record<string, unknown>[]> =>
      (await own.session.sql(sql.replaceAll(/\bt\b/g, `${format}.\`${location}\``))).collect();
    for (const statement of [
      `CREATE TABLE t (id BIGINT, name STRING, n INT) ${created[format]}`,
      "INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 3)",
      'ALTER TABLE t RENAME COLUMN name TO label',
      ...(format === 'iceberg' ? [inOrc] : []),
      "INSERT INTO t VALUES (4, 'd', 4), (5, 'e', NULL)",
      "UPDATE t SET label = 'B' WHERE id = 2",
      'DELETE FROM t WHERE id IN (1, 5)',
      'ALTER TABLE t DROP COLUMN n',
    ])
      await run(statement);
    const random = new SeededRandom(3);
    const openStore = openObjectStore.withProperties(properties);
    const engine = (): Promise<typeof made.engine.engine> => Promise.resolve(made.engine.engine);
    const parts = { openStore, clock: new SystemClock(), random, ids: new RandomIdSource(random), version: 'test', engine };
    const rewriter = { rewrite: (): Promise<never> => Promise.reject(new TypeError('not used')) };
    const scratchDirectory = join(made.engine.directory, 'scratch');
    const open = async (): Promise<Table> => {
      const tables = { delta: new DeltaTables({ ...parts, rewriter }), iceberg: new IcebergTables({ ...parts, scratchDirectory }) };
      const table = await tables[format].open('t', location);
      if (table === undefined) throw new TypeError('no table');
      return table;
    };
    const { version } = await (await open()).refresh();
    const expected = (await run('SELECT id, label FROM t')).map(({ id, label }) => `${String(id)} ${String(label)}`).toSorted();
    for (const start of [{ kind: 'earliest' }, { kind: 'snapshot' }] as const) {
      const bench = feedBench(open, { openEngine: engine, openStore });
      expect(await bench.publish(version, 'fail', { start, maxTransactionRows: 2 })).toMatchObject({
        state: 'stopped',
        position: { complete: true },
      });
      const rows = new Map<string, string>();
      for (const line of await bench.published()) {
        const { id, label, name, _change_type: type } = JSON.parse(line) as Record<string, string>;
        if (type === 'delete' || type === 'update_preimage') rows.delete(String(id));
        else rows.set(String(id), `${id} ${label ?? name}`);
      }
      expect([...rows.values()].toSorted()).toEqual(expected);
    }
    expect(await readdir(scratchDirectory).catch(() => [])).toEqual([]);
  });

  it('is read live', async () => {
    for (const [name, value] of Object.entries({
      AWS_ENDPOINT_URL_S3: properties['s3.endpoint'],
      AWS_REGION: properties['s3.region'],
      AWS_ACCESS_KEY_ID: properties['s3.access-key-id'],
      AWS_SECRET_ACCESS_KEY: properties['s3.secret-access-key'],
    }))
      vi.stubEnv(name, value);
    await withTemporaryDirectory(async (directory) => {
      const yaml = `
pipeline: p
tables: [{ name: orders, format: ${format}, path: "${fresh()}", mode: upsert, keyColumns: [id], columns: [{ name: id, type: long, nullable: false }, { name: v, type: string }] }]
ingest: { maxBatchAge: 20ms, maxFetchWait: 20ms, routes: [{ topics: [orders], table: orders }], deadLetters: { topic: dlq } }
`;
      const pipeline = new MemoryPipeline(directory, yaml, { orders: 1, dlq: 1 });
      const config = { 'spark.sql.catalog.live': 'tidewater.LiveCatalog', 'spark.sql.catalog.live.config': 'pipeline.yaml' };
      const session = createSession({ config }, () => ({ components: pipeline.components, close: () => Promise.resolve() }));
      const live = async (): Promise<unknown> => (await session.sql('SELECT id, v FROM live.orders ORDER BY id')).collect();
      const put = (id: number, v: string): { readonly value: string } => ({ value: JSON.stringify({ id, v }) });
      try {
        await pipeline.produce('orders', 0, [put(1, 'a'), put(2, 'b')]);
        await pipeline.ingest();
        await pipeline.produce('orders', 0, [put(2, 'B'), put(3, 'c')]);
        const rows = [
          { id: 1n, v: 'a' },
          { id: 2n, v: 'B' },
          { id: 3n, v: 'c' },
        ];
        expect(await live()).toEqual(rows);
        await pipeline.ingest();
        expect(await live()).toEqual(rows);
      } finally {
        await session.stop();
        await pipeline.close();
        vi.unstubAllEnvs();
      }
    });
  });
});
