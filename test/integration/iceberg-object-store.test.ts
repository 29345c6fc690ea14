import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createSession, type Session } from '../../src/app/session.ts';
import { type Fault, FaultProxy } from '../support/fault-proxy.ts';
import { obtainS3Server, startS3Server } from '../support/s3-server.ts';
import { removeDirectory, temporaryDirectory } from '../support/servers.ts';

const program = await obtainS3Server('versitygw');
const server = program === undefined ? undefined : await startS3Server('versitygw', program);
const proxy = server === undefined ? undefined : await FaultProxy.start(server.endpoint);
const directory = temporaryDirectory('iceberg-object-store');
const sessions: Session[] = [];
afterAll(async () => {
  for (const session of sessions) await session.stop();
  await proxy?.close();
  await server?.stop();
  removeDirectory(directory);
});

type Config = Readonly<Record<string, string>>;

/** A session with a catalog `ice` that reaches the object store by its own settings. */
function open(catalog: Config, endpoint = server?.endpoint ?? ''): Session {
  const store: Config = { ...server?.properties(endpoint), 's3.request-timeout-ms': '1500' };
  const entries = Object.entries({ ...catalog, ...store }).map(([key, value]) => [`spark.sql.catalog.ice.${key}`, value] as const);
  const session = createSession({
    config: {
      ...Object.fromEntries(entries),
      'spark.sql.catalog.ice': 'org.apache.iceberg.spark.SparkCatalog',
      'spark.sql.defaultCatalog': 'ice',
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
const bucketOf = (): string => `s3://${server?.bucket ?? ''}/${randomUUID()}`;

const catalogs: readonly (readonly [string, () => Config])[] = [
  ['a catalog of directories', () => ({ type: 'hadoop', warehouse: bucketOf() })],
  [
    'a catalog in a SQLite database',
    () => ({ type: 'jdbc', uri: `jdbc:sqlite:file:${join(directory, `${randomUUID()}.db`)}`, warehouse: bucketOf() }),
  ],
];

/** Creates, changes, reads and maintains a table; another session sees it all. */
async function wholeLife(catalog: Config, mode: string, version: number): Promise<void> {
  const session = open(catalog);
  const run = (text: string): ReturnType<typeof rowsOf> => rowsOf(session, text);
  await run('CREATE DATABASE IF NOT EXISTS db');
  await run(`CREATE TABLE db.orders (id BIGINT, day DATE, note STRING) USING iceberg PARTITIONED BY (days(day), bucket(2, id))
    TBLPROPERTIES ('format-version' = '${version}', 'write.update.mode' = '${mode}', 'write.delete.mode' = '${mode}', 'write.merge.mode' = '${mode}')`);
  for (let batch = 0; batch < 3; batch++) {
    await run(
      `INSERT INTO db.orders SELECT id, DATE'2024-01-01' + CAST(id % 2 AS INT), 'batch ${batch}' FROM range(${batch * 10}, ${batch * 10 + 10})`,
    );
  }
  const [first] = await run('SELECT snapshot_id FROM db.orders.snapshots ORDER BY committed_at LIMIT 1');
  await run("UPDATE db.orders SET note = 'changed' WHERE id = 3");
  await run('DELETE FROM db.orders WHERE id = 4');
  await run(`MERGE INTO db.orders AS t USING (SELECT CAST(5 AS BIGINT) AS id, DATE'2024-01-02' AS day, 'merged' AS note
    UNION ALL SELECT 100, DATE'2024-03-01', 'fresh') AS s ON t.id = s.id
    WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *`);
  const expected = [{ n: 30n, s: 435n - 4n + 100n }];
  const totals = 'SELECT count(*) AS n, sum(id) AS s FROM db.orders';
  expect(await run(totals)).toEqual(expected);
  expect(await run("SELECT id FROM db.orders WHERE note IN ('merged', 'changed') ORDER BY id")).toEqual([{ id: 3n }, { id: 5n }]);
  const then = `SELECT count(*) AS n FROM db.orders VERSION AS OF ${String(first?.['snapshot_id'])}`;
  expect(await run(then)).toEqual([{ n: 10n }]);
  const other = open(catalog);
  expect(await rowsOf(other, totals)).toEqual(expected);
  await rowsOf(
    other,
    "CALL ice.system.rewrite_data_files(table => 'db.orders', options => map('rewrite-all', 'true', 'remove-dangling-deletes', 'true'))",
  );
  expect(await run(totals)).toEqual(expected);
  await run("CALL ice.system.expire_snapshots(table => 'db.orders', older_than => TIMESTAMP '2200-01-01 00:00:00', retain_last => 1)");
  expect(await rowsOf(other, totals)).toEqual(expected);
  expect(await run('SELECT count(*) AS n FROM db.orders.snapshots')).toEqual([{ n: 1n }]);
  await expect(run(then)).rejects.toMatchObject({ kind: 'not-found' });
  await run('DROP TABLE db.orders PURGE');
  await expect(rowsOf(other, totals)).rejects.toMatchObject({ errorClass: 'TABLE_OR_VIEW_NOT_FOUND' });
}

describe.skipIf(server === undefined)('Iceberg tables in an object store', () => {
  describe.each(catalogs)('by %s', (_, catalog) => {
    it.each([
      ['copy-on-write', 2],
      ['merge-on-read', 2],
      ['merge-on-read', 3],
    ] as const)('are changed %s in format version %i, travelled in time, compacted and expired', async (mode, version) => {
      await wholeLife(catalog(), mode, version);
    });
  });

  /** Everything that may happen to one request. */
  const mishaps: readonly (readonly [string, Fault])[] = [
    ['the connection is cut before the request arrives', { kind: 'drop-request' }],
    ['the answer is lost', { kind: 'drop-response' }],
    ['no answer ever comes', { kind: 'never-answer' }],
    ['the server does it later', { kind: 'apply-late', delayMs: 150 }],
    ['a 500 hides that it was done', { kind: 'answer-after', status: 500, code: 'InternalError' }],
    ['a 503 says that it was not done', { kind: 'answer', status: 503, code: 'SlowDown' }],
    ['a 503 hides that it was done', { kind: 'answer-after', status: 503, code: 'SlowDown' }],
    ['a 409 says that another is under way', { kind: 'answer', status: 409, code: 'ConditionalRequestConflict' }],
    ['the answer is slow', { kind: 'slow', pauseMs: 5 }],
  ];

  const quick: ReadonlySet<Fault['kind']> = new Set<Fault['kind']>(['drop-request', 'drop-response', 'apply-late', 'answer-after']);

  interface Meeting {
    readonly table: string;
    readonly direct: Session;
    /** By way of the proxy. */
    readonly faulty: Session;
  }

  let meetings: { readonly direct: Session; readonly faulty: Session } | undefined;
  let tables = 0;
  const faults = proxy as FaultProxy;
  beforeEach(() => {
    faults.reset();
  });

  /** A table of one row, version 2 of its metadata. */
  async function meeting(): Promise<Meeting> {
    if (meetings === undefined) {
      const catalog = { type: 'hadoop', warehouse: bucketOf() };
      meetings = { direct: open(catalog), faulty: open(catalog, faults.endpoint) };
      await rowsOf(meetings.direct, 'CREATE DATABASE db');
    }
    tables += 1;
    const table = `db.t${tables}`;
    await rowsOf(meetings.direct, `CREATE TABLE ${table} USING iceberg AS SELECT 0 AS id`);
    return { table, ...meetings };
  }

  /** Inserts a row while something goes wrong; afterwards the row is there once or, only when the outcome was left open, not at all. */
  async function insertDuring(path: RegExp, fault: Fault): Promise<void> {
    const { table, direct, faulty } = await meeting();
    faults.fail({ method: 'PUT', path: new RegExp(`${table.replace('.', '/')}/${path.source}`), fault });
    const failure: unknown = await rowsOf(faulty, `INSERT INTO ${table} VALUES (1)`).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(faults.seen.filter((request) => request.fault !== undefined)).toHaveLength(1);
    await faults.settled();
    if (failure !== undefined) expect(failure).toMatchObject({ kind: 'unknown-outcome' });
    const ids = (await rowsOf(direct, `SELECT id FROM ${table} ORDER BY id`)).map((row) => row['id']);
    const snapshots = await rowsOf(direct, `SELECT operation FROM ${table}.snapshots`);
    expect(snapshots).toHaveLength(ids.length);
    if (failure === undefined) expect(ids).toEqual([0, 1]);
    else expect([[0], [0, 1]]).toContainEqual(ids);
    // Both sessions go on from there.
    await rowsOf(faulty, `INSERT INTO ${table} VALUES (2)`);
    await rowsOf(direct, `INSERT INTO ${table} VALUES (3)`);
    const after = (await rowsOf(faulty, `SELECT id FROM ${table} ORDER BY id`)).map((row) => row['id']);
    expect(after).toEqual([...ids, 2, 3]);
  }

  const refusals: readonly (readonly [string, Fault])[] = [
    ['a 412 hides that it was done', { kind: 'answer-after', status: 412, code: 'PreconditionFailed' }],
    ['a 409 hides that it was done', { kind: 'answer-after', status: 409, code: 'ConditionalRequestConflict' }],
  ];

  it.each([...mishaps, ...refusals])('have one snapshot of one commit when %s', async (_, fault) => {
    await insertDuring(/metadata\/v2\.metadata\.json/, fault);
  });

  it.each(mishaps)('have whole data files when %s', async (_, fault) => {
    await insertDuring(/data\/[^?]*\.parquet/, fault);
  });

  it.each(mishaps.filter(([, { kind }]) => quick.has(kind)))('have whole manifests when %s', async (_, fault) => {
    await insertDuring(/metadata\/[^?]*-m0\.avro/, fault);
  });

  it.each(mishaps.filter(([, { kind }]) => quick.has(kind)))('have whole manifest lists when %s', async (_, fault) => {
    await insertDuring(/metadata\/snap-[^?]*\.avro/, fault);
  });

  it('lose and double nothing while every tenth request goes wrong', async () => {
    const { table, direct, faulty } = await meeting();
    let requests = 0;
    const kinds: readonly Fault[] = [...mishaps, ...refusals]
      .map(([, fault]) => fault)
      .filter(({ kind }) => kind !== 'never-answer' && kind !== 'slow');
    const conditional = /\.metadata\.json/;
    faults.choose = (method, path) => {
      requests += 1;
      if (requests % 10 !== 0) return undefined;
      const fault = kinds[(requests / 10) % kinds.length];
      // What only a condition may answer is answered to conditional requests alone.
      const refusal = fault !== undefined && 'status' in fault && (fault.status === 409 || fault.status === 412);
      return refusal && !(method === 'PUT' && conditional.test(path)) ? undefined : fault;
    };
    const sure: number[] = [];
    const open_: number[] = [];
    for (let id = 1; id <= 6; id++) {
      await rowsOf(faulty, `INSERT INTO ${table} VALUES (${id})`).then(
        () => sure.push(id),
        () => open_.push(id),
      );
    }
    faults.choose = undefined;
    await faults.settled();
    const ids = (await rowsOf(direct, `SELECT id FROM ${table} ORDER BY id`)).map((row) => Number(row['id']));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(expect.arrayContaining(sure));
    expect([0, ...sure, ...open_]).toEqual(expect.arrayContaining(ids));
    expect(sure.length).toBeGreaterThan(0);
  });
});
