import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSession, type Session } from '../../src/app/session.ts';
import { obtainS3Server, startS3Server } from '../support/s3-server.ts';
import { type Engines, obtainEngines } from './engines.ts';
import { enginesMissing } from './support/engine-bench.ts';

const setUpMs = 900_000;
const program = await obtainS3Server('gofakes3');
const server = program === undefined ? undefined : await startS3Server('gofakes3', program);
afterAll(() => server?.stop());

describe.skipIf(enginesMissing || server === undefined)('a Delta table in a bucket that delta-rs writes too', () => {
  let engines: Engines;
  let session: Session;
  let warehouse = '';
  beforeAll(async () => {
    engines = await obtainEngines();
    warehouse = await mkdtemp(join(tmpdir(), 'tidewater-bucket-'));
    session = createSession({ config: { ...server?.properties(), 'spark.sql.warehouse.dir': warehouse } });
  }, setUpMs);
  afterAll(async () => {
    await session.stop();
    await rm(warehouse, { recursive: true, force: true });
  });

  /** Appends with delta-rs; the ids it reads afterwards. */
  async function deltaRs(location: string, range: { readonly from: number; readonly until: number }): Promise<readonly number[]> {
    const given = server?.properties() ?? {};
    const options = {
      AWS_ENDPOINT_URL: given['s3.endpoint'],
      AWS_REGION: given['s3.region'],
      AWS_ACCESS_KEY_ID: given['s3.access-key-id'],
      AWS_SECRET_ACCESS_KEY: given['s3.secret-access-key'],
      AWS_ALLOW_HTTP: 'true',
    };
    const args = [location, JSON.stringify(options), String(range.from), String(range.until)];
    return JSON.parse(await engines.script('append_in_bucket.py', args)) as readonly number[];
  }

  it('has the rows of both, once each, when they write at the same time', async () => {
    const location = `s3://${server?.bucket ?? ''}/${randomUUID()}/shared table`;
    await session.sql(`CREATE TABLE shared (id BIGINT, p STRING) USING delta PARTITIONED BY (p) LOCATION '${location}'`);
    const insert = async (): Promise<void> => {
      for (let id = 0; id < 20; id++) await session.sql(`INSERT INTO shared VALUES (${id}, 'our own')`);
    };
    await Promise.all([insert(), deltaRs(location, { from: 100, until: 120 })]);
    const both = [...Array.from({ length: 20 }, (_, id) => id), ...Array.from({ length: 20 }, (_, id) => 100 + id)];
    const rows = await (await session.sql('SELECT id FROM shared ORDER BY id')).collect();
    expect(rows.map((row) => Number(row['id']))).toEqual(both);
    expect(await deltaRs(location, { from: 0, until: 0 })).toEqual(both);
    // What changes rows and files is read by the other as well.
    await session.sql('DELETE FROM shared WHERE id % 2 = 0');
    await session.sql('OPTIMIZE shared');
    expect(await deltaRs(location, { from: 0, until: 0 })).toEqual(both.filter((id) => id % 2 === 1));
    const [history] = await (await session.sql('DESCRIBE HISTORY shared')).collect();
    expect(Number(history?.['version'])).toBe(42);
  });
});
