import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSession, type Session } from '../../src/app/session.ts';
import { privateRestCatalog } from '../support/rest-catalog.ts';
import { obtainS3Server, startS3Server } from '../support/s3-server.ts';
import { removeDirectory, temporaryDirectory } from '../support/servers.ts';
import { StorageVendor } from '../support/storage-vendor.ts';

/*
 * A table lies in a bucket, and who uses it has no right to the bucket but what the catalog hands out. Java's server keeps the catalog and writes the
 * metadata; before it stands one that hands out accounts of the store, which end when they are replaced: whoever goes on with an old one is refused.
 */

const program = await obtainS3Server('versitygw');
const store = program === undefined ? undefined : await startS3Server('versitygw', program);
const warehouse = `s3://${store?.bucket ?? ''}/warehouse`;
const rest = store === undefined ? undefined : await privateRestCatalog('jdbc', { warehouse, properties: store.properties() });
const directory = temporaryDirectory('vended-credentials');
const sessions: Session[] = [];
const closing: AsyncDisposable[] = [];

/** The environment must not help. */
const ambient = Object.keys(process.env).filter((name) => name.startsWith('AWS_'));
beforeAll(() => {
  for (const name of ambient) Reflect.deleteProperty(process.env, name);
  process.env['AWS_EC2_METADATA_DISABLED'] = 'true';
});

afterAll(async () => {
  for (const session of sessions) await session.stop();
  for (const each of closing) await each[Symbol.asyncDispose]();
  await rest?.[Symbol.asyncDispose]();
  await store?.stop();
  removeDirectory(directory);
});

/** A session that knows the catalog's address and has no credentials. */
function open(uri: string, more: Readonly<Record<string, string>> = {}): Session {
  const settings = Object.entries(more).map(([key, value]) => [`spark.sql.catalog.lake.${key}`, value] as const);
  const session = createSession({
    config: {
      'spark.sql.catalog.lake': 'org.apache.iceberg.spark.SparkCatalog',
      'spark.sql.catalog.lake.type': 'rest',
      'spark.sql.catalog.lake.uri': uri,
      ...Object.fromEntries(settings),
      'spark.sql.defaultCatalog': 'lake',
      'spark.sql.warehouse.dir': join(directory, 'warehouse'),
      'tidewater.engine.threads': '2',
    },
    print: () => undefined,
  });
  sessions.push(session);
  return session;
}

const rowsOf = async (session: Session, text: string): Promise<readonly Readonly<Record<string, unknown>>[]> =>
  (await session.sql(text)).collect();

async function startVendor(): Promise<StorageVendor> {
  const vendor = await StorageVendor.start(rest!.server.uri, store!);
  closing.push(vendor);
  return vendor;
}

async function makeTable(session: Session, name: string): Promise<void> {
  await rowsOf(session, 'CREATE NAMESPACE IF NOT EXISTS lake.shop');
  await rowsOf(session, `CREATE TABLE lake.shop.${name} (id BIGINT, note STRING) USING iceberg`);
}

describe.skipIf(rest === undefined)('an Iceberg REST catalog that vends credentials of an object store', () => {
  it('is all that a session needs to get at it: Java’s server vends what it uses itself', async () => {
    // It does not say where the store is.
    const { 's3.endpoint': endpoint = '' } = store!.properties();
    const place = { 's3.endpoint': endpoint, 's3.path-style-access': 'true', 'client.region': 'us-east-1' };
    const session = open(rest!.server.uri, place);
    await rowsOf(session, 'CREATE NAMESPACE lake.own');
    await rowsOf(session, 'CREATE TABLE lake.own.orders USING iceberg AS SELECT id, concat("row ", id) AS note FROM range(10)');
    await rowsOf(session, 'INSERT INTO lake.own.orders VALUES (10, "inserted")');
    await rowsOf(session, 'UPDATE lake.own.orders SET note = "changed" WHERE id = 3');
    await rowsOf(session, 'DELETE FROM lake.own.orders WHERE id = 4');
    const expected = [{ n: 10n, s: 51n, c: 1n }];
    const totals = 'SELECT count(*) AS n, sum(id) AS s, count_if(note = "changed") AS c FROM lake.own.orders';
    expect(await rowsOf(session, totals)).toEqual(expected);
    await rowsOf(session, "CALL lake.system.rewrite_data_files(table => 'own.orders', options => map('rewrite-all', 'true'))");
    expect(await rowsOf(session, 'SELECT count(*) AS n FROM lake.own.orders.files')).toEqual([{ n: 1n }]);
    expect(await rowsOf(open(rest!.server.uri, place), totals)).toEqual(expected);
    const [file] = await rowsOf(session, 'SELECT file_path FROM lake.own.orders.files');
    expect(file?.['file_path']).toMatch(new RegExp(`^${warehouse}/`));
  });

  it.each([
    ['by loading the table', false],
    ['at its endpoint for credentials', true],
  ])('is asked for another pair %s when the store refuses the old one, by a session that stays open', async (_, hasEndpoint) => {
    const vendor = await startVendor();
    vendor.catalog.hasEndpoint = hasEndpoint;
    const session = open(vendor.catalog.uri);
    const name = `t${randomUUID().slice(0, 8)}`;
    await makeTable(session, name);
    for (let round = 0; round < 3; round += 1) {
      await rowsOf(session, `INSERT INTO lake.shop.${name} SELECT id, 'round ${round}' FROM range(${round * 10}, ${round * 10 + 10})`);
      await vendor.rotate();
      const found = await rowsOf(session, `SELECT count(*) AS n, count(DISTINCT id) AS d FROM lake.shop.${name}`);
      expect(found).toEqual([{ n: BigInt(round * 10 + 10), d: BigInt(round * 10 + 10) }]);
      await vendor.rotate();
    }
    await rowsOf(session, `CALL lake.system.rewrite_data_files(table => 'shop.${name}', options => map('rewrite-all', 'true'))`);
    await vendor.rotate();
    await rowsOf(session, `DELETE FROM lake.shop.${name} WHERE id < 5`);
    expect(await rowsOf(session, `SELECT count(*) AS n FROM lake.shop.${name}`)).toEqual([{ n: 25n }]);
    expect(vendor.catalog.handedOut.credentials > 0).toBe(hasEndpoint);
  });

  it('is not asked when the user does not want it: then the old pair is refused', async () => {
    const vendor = await startVendor();
    const session = open(vendor.catalog.uri, { 'client.refresh-credentials-enabled': 'false' });
    await makeTable(session, 'unrenewed');
    await rowsOf(session, "INSERT INTO lake.shop.unrenewed VALUES (1, 'x')");
    await vendor.rotate();
    const refused = { code: 'STORAGE_ACCESS_DENIED', message: expect.stringMatching(/InvalidAccessKeyId/) as string };
    await expect(rowsOf(session, "INSERT INTO lake.shop.unrenewed VALUES (2, 'x')")).rejects.toMatchObject(refused);
  });

  it('loses and doubles nothing of a running commit loop and its readers while the pair is rotated', async () => {
    const vendor = await startVendor();
    vendor.catalog.hasEndpoint = true;
    const session = open(vendor.catalog.uri);
    await makeTable(session, 'loop');
    const until = Date.now() + 15_000;
    let inserted = 0;
    let rotations = 0;
    const inserts = async (): Promise<void> => {
      for (; Date.now() < until; inserted += 1) await rowsOf(session, `INSERT INTO lake.shop.loop VALUES (${inserted}, 'x')`);
    };
    const reads = async (): Promise<void> => {
      for (let least = 0; Date.now() < until; ) {
        const before = inserted;
        const [found] = await rowsOf(session, 'SELECT count(*) AS n, count(DISTINCT id) AS d FROM lake.shop.loop');
        expect(found?.['n']).toBe(found?.['d']);
        expect(Number(found?.['n'])).toBeGreaterThanOrEqual(Math.max(before, least));
        least = Number(found?.['n']);
      }
    };
    const rotates = async (): Promise<void> => {
      for (; Date.now() < until; rotations += 1) {
        await sleep(500);
        await vendor.rotate();
      }
    };
    await Promise.all([inserts(), reads(), rotates()]);
    const found = await rowsOf(session, 'SELECT count(*) AS n, count(DISTINCT id) AS d, max(id) AS m FROM lake.shop.loop');
    expect(found).toEqual([{ n: BigInt(inserted), d: BigInt(inserted), m: BigInt(inserted - 1) }]);
    expect(inserted).toBeGreaterThan(10);
    expect(rotations).toBeGreaterThan(5);
  });

  it('renews credentials that say when they end before they do', async () => {
    const vendor = await startVendor();
    vendor.catalog.hasEndpoint = true;
    const lifetimeMs = 4_000;
    vendor.catalog.lifetimeMs = lifetimeMs;
    const session = open(vendor.catalog.uri);
    await makeTable(session, 'ending');
    const before = vendor.catalog.handedOut.credentials;
    const renewals = (): number => vendor.catalog.handedOut.credentials - before;
    const dataFrame = session.table('lake.shop.ending');
    const startedMs = Date.now();
    // A table that is loaded brings a pair too. Only when half of a pair's time ends between a load and what follows it is another asked for, which
    // is not so in every ten seconds.
    const goesOn = (): boolean => {
      const takenMs = Date.now() - startedMs;
      return takenMs < 10_000 || (renewals() === 0 && takenMs < 60_000);
    };
    let inserted = 0;
    // A pair is good for its whole time, which began when it was handed out last.
    const rotating = (async (): Promise<void> => {
      while (goesOn()) await vendor.rotate(lifetimeMs);
    })();
    for (; goesOn(); inserted += 1) {
      await rowsOf(session, `INSERT INTO lake.shop.ending VALUES (${inserted}, 'x')`);
      expect(await dataFrame.count()).toBe(inserted + 1);
    }
    await rotating;
    expect(renewals()).toBeGreaterThan(0);
    // Half of the time is left when they are renewed, by each of the two pointers there may be.
    const halves = Math.ceil((Date.now() - startedMs) / (lifetimeMs / 2));
    expect(renewals()).toBeLessThanOrEqual(2 * halves);
  });

  it('hands out nothing else: the store has the word, and no secret is shown', async () => {
    const vendor = await startVendor();
    const session = open(vendor.catalog.uri);
    await makeTable(session, 'denied');
    await rowsOf(session, "INSERT INTO lake.shop.denied VALUES (1, 'x')");
    const dataFrame = session.table('lake.shop.denied');
    const { 's3.secret-access-key': secret } = vendor.vended;
    await vendor.revoke();
    const error: unknown = await dataFrame.collect().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'STORAGE_ACCESS_DENIED' });
    expect(String(error) + JSON.stringify(error)).not.toContain(secret);
  });
});
