import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openObjectStore } from '../../../src/storage/open-object-store.ts';
import { listed } from '../../conformance/object-store.ts';
import { obtainS3Server, type S3Server, startS3Server } from '../../support/s3-server.ts';
import { type TemporarySession, temporarySession } from '../../support/temporary-session.ts';

const program = await obtainS3Server('gofakes3');
const server: S3Server | undefined = program === undefined ? undefined : await startS3Server('gofakes3', program);
afterAll(() => server?.stop());

describe.skipIf(server === undefined)('a Session over s3:// locations', () => {
  const bucket = server?.bucket ?? '';
  const fresh = (scheme = 's3'): string => `${scheme}://${bucket}/${randomUUID()}/orders table`;
  const hadoop = {
    'spark.hadoop.fs.s3a.endpoint': (server?.endpoint ?? '').replace('http://', ''),
    'spark.hadoop.fs.s3a.connection.ssl.enabled': 'false',
    'spark.hadoop.fs.s3a.access.key': 'tidewater',
    'spark.hadoop.fs.s3a.secret.key': 'tidewater-secret',
    'spark.hadoop.fs.s3a.path.style.access': 'true',
  };
  const open = (more: Readonly<Record<string, string>> = {}): Promise<TemporarySession> => temporarySession({ ...hadoop, ...more });

  it('creates, changes, reads, compacts and vacuums a Delta table', async () => {
    await using given = await open();
    const { session } = given;
    const location = fresh();
    const run = async (text: string): Promise<readonly unknown[]> => (await session.sql(text)).collect();
    await run(`CREATE TABLE orders (id BIGINT, day DATE, note STRING) USING delta PARTITIONED BY (day) LOCATION '${location}'
      TBLPROPERTIES (delta.enableDeletionVectors = true, delta.enableChangeDataFeed = true)`);
    for (let batch = 0; batch < 3; batch++) {
      await run(
        `INSERT INTO orders SELECT id, DATE'2024-01-01' + CAST(id % 2 AS INT), 'batch ${batch}' FROM range(${batch * 10}, ${batch * 10 + 10})`,
      );
    }
    await run("UPDATE orders SET note = 'changed' WHERE id = 3");
    await run('DELETE FROM orders WHERE id = 4');
    await run(`MERGE INTO orders AS t USING (SELECT CAST(5 AS BIGINT) AS id, DATE'2024-01-02' AS day, 'merged' AS note
      UNION ALL SELECT 100, DATE'2024-03-01', 'fresh') AS s ON t.id = s.id
      WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *`);
    const rows = await run('SELECT count(*) AS n, sum(id) AS s FROM orders');
    expect(rows).toMatchObject([{ n: 30n, s: 435n - 4n + 100n }]);
    expect(await run("SELECT id FROM orders WHERE note = 'merged' OR note = 'changed' ORDER BY id")).toMatchObject([
      { id: 3n },
      { id: 5n },
    ]);
    expect(await run('SELECT count(*) AS n FROM orders VERSION AS OF 1')).toMatchObject([{ n: 10n }]);
    await run('OPTIMIZE orders');
    await session.sql('SET spark.databricks.delta.retentionDurationCheck.enabled = false');
    await run('VACUUM orders RETAIN 0 HOURS');
    expect(await run('SELECT count(*) AS n, sum(id) AS s FROM orders')).toMatchObject([{ n: 30n, s: 531n }]);

    // Another process, told of the server in other words, by path and by the other scheme.
    await using other = await temporarySession({
      'tidewater.s3.endpoint': server?.endpoint ?? '',
      's3.access-key-id': 'a',
      's3.secret-access-key': 'b',
    });
    const again = await other.session.sql(`SELECT count(*) AS n FROM delta.\`${location.replace('s3:', 's3a:')}\``);
    expect(await again.collect()).toMatchObject([{ n: 30n }]);
  });

  it('leaves nothing in the temporary directory of the engine', async () => {
    await using directory = await open();
    const temporary = join(directory.directory, 'spill');
    const location = fresh();
    {
      await using given = await open({ 'tidewater.engine.temporaryDirectory': temporary });
      await given.session.sql(`CREATE TABLE t USING delta LOCATION '${location}' AS SELECT * FROM range(1000)`);
      expect(await (await given.session.sql('SELECT max(id) AS m FROM t WHERE id > 5')).collect()).toMatchObject([{ m: 999n }]);
      const [engine = ''] = await readdir(temporary);
      expect(await readdir(join(temporary, engine))).toEqual(['copies']);
      expect(await readdir(join(temporary, engine, 'copies'))).toHaveLength(1);
    }
    expect(await readdir(temporary)).toEqual([]);
  });

  it('keeps a whole warehouse in a bucket', async () => {
    const warehouse = `s3a://${bucket}/${randomUUID()}`;
    await using given = await open({ 'spark.sql.warehouse.dir': warehouse });
    await given.session.sql('CREATE DATABASE sales');
    await given.session.sql('CREATE TABLE sales.orders USING delta AS SELECT 1 AS id');
    await given.session.sql('CREATE TABLE sales.copy SHALLOW CLONE sales.orders');
    expect(await (await given.session.sql('SELECT * FROM sales.copy')).collect()).toEqual([{ id: 1 }]);
    await given.session.sql('DROP TABLE sales.copy');
    await given.session.sql('DROP TABLE sales.orders');
    const store = openObjectStore.withProperties(server?.properties() ?? {})(warehouse);
    expect(await listed(store, 'sales.db/orders')).toEqual([]);
  });

  it('says which bucket is not there, and nothing of the keys', async () => {
    await using given = await open();
    const failed = given.session.sql("CREATE TABLE t (id INT) USING delta LOCATION 's3://no-such-bucket/t'");
    await expect(failed).rejects.toMatchObject({ code: 'STORAGE_BUCKET_NOT_FOUND' });
    await expect(failed).rejects.toThrow('there is no bucket "no-such-bucket"');
    await expect(failed).rejects.not.toThrow('tidewater-secret');
  });
});
