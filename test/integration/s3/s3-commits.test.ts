import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { RandomIdSource } from '../../../src/base/ids.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { SystemClock } from '../../../src/base/system-clock.ts';
import { SystemRandom } from '../../../src/base/system-random.ts';
import { silentCommitObserver } from '../../../src/commit/commit-observer.ts';
import { TableCommitter } from '../../../src/commit/table-committer.ts';
import { DeltaTables } from '../../../src/delta/delta-tables.ts';
import type { ObjectStore } from '../../../src/storage/object-store.ts';
import { RetryingObjectStore } from '../../../src/storage/retrying-object-store.ts';
import { type AppendIntent, toCommitId } from '../../../src/table/commit.ts';
import type { QueryableTable } from '../../../src/table/table.ts';
import { type Fault, FaultProxy } from '../../support/fault-proxy.ts';
import { obtainS3Server, startS3Server } from '../../support/s3-server.ts';
import { temporarySession } from '../../support/temporary-session.ts';

const run = promisify(execFile);
const support = fileURLToPath(new URL('../../support/', import.meta.url));
const program = await obtainS3Server('versitygw');
const server = program === undefined ? undefined : await startS3Server('versitygw', program);
const proxy = server === undefined ? undefined : await FaultProxy.start(server.endpoint);
afterAll(async () => {
  await proxy?.close();
  await server?.stop();
});

const patience = { 's3.request-timeout-ms': '1500' };
const clock = new SystemClock();
const random = new SystemRandom();
const ids = new RandomIdSource(random);
const writer = 'writer';

/** Everything that may happen to the one request that makes a version. */
const faultsOfCommits: readonly (readonly [string, Fault])[] = [
  ['the connection is cut before the request arrives', { kind: 'drop-request' }],
  ['the answer is lost', { kind: 'drop-response' }],
  ['no answer ever comes', { kind: 'never-answer' }],
  ['the server does it later', { kind: 'apply-late', delayMs: 150 }],
  ['a 500 hides that it was done', { kind: 'answer-after', status: 500, code: 'InternalError' }],
  ['a 500 says that it was not done', { kind: 'answer', status: 500, code: 'InternalError' }],
  ['a 503 hides that it was done', { kind: 'answer-after', status: 503, code: 'SlowDown' }],
  ['a 503 says that it was not done', { kind: 'answer', status: 503, code: 'SlowDown' }],
  ['a 412 hides that it was done', { kind: 'answer-after', status: 412, code: 'PreconditionFailed' }],
  ['a 409 hides that it was done', { kind: 'answer-after', status: 409, code: 'ConditionalRequestConflict' }],
  ['a 409 says that another is under way', { kind: 'answer', status: 409, code: 'ConditionalRequestConflict' }],
];

describe.skipIf(server === undefined)('commits of Delta tables in an object store', () => {
  const faults = proxy as FaultProxy;
  beforeEach(() => {
    faults.reset();
  });
  const fresh = (): string => `s3://${server?.bucket ?? ''}/${randomUUID()}`;

  function tablesAt(endpoint: string | undefined): DeltaTables {
    const open = server?.opener(endpoint, patience);
    const openStore = (at: string): ObjectStore => new RetryingObjectStore(open?.(at) as ObjectStore, { clock, random });
    const rewriter = { rewrite: (): Promise<never> => Promise.reject(new TypeError('not used')) };
    return new DeltaTables({ openStore, clock, random, ids, version: 'test', rewriter });
  }

  async function create(location: string): Promise<QueryableTable> {
    const field = { name: 'id', type: { kind: 'long' }, nullable: true } as const;
    const definition = { schema: { kind: 'struct', fields: [field] }, partitionColumns: [], properties: {} } as const;
    return tablesAt(undefined).create('appended', location, definition);
  }

  function intentOf(index: number): AppendIntent {
    const file = { path: `${writer}-${index}.parquet`, partitionValues: {}, sizeBytes: 1, rowCount: 1, modifiedMs: 1, statistics: [] };
    const progress = [{ writerId: writer, from: index === 0 ? undefined : BigInt(index), until: BigInt(index + 1) }];
    return { commitId: toCommitId(ids.uuid()), files: [file], progress, userMetadata: '' };
  }

  /** The files each version added, from the log itself, which must have no gap. */
  async function addedByVersion(location: string): Promise<readonly (readonly string[])[]> {
    const store = server?.opener()(location) as ObjectStore;
    const versions: string[][] = [];
    for await (const { path } of store.list({ prefix: '_delta_log/' })) {
      if (!/\/\d{20}\.json$/.test(path)) continue;
      expect(path).toBe(`_delta_log/${String(versions.length).padStart(20, '0')}.json`);
      const lines = Buffer.from(await store.read(path))
        .toString()
        .trim()
        .split('\n');
      versions.push(lines.flatMap((line) => (JSON.parse(line) as { readonly add?: { readonly path: string } }).add?.path ?? []));
    }
    return versions;
  }

  it.each(faultsOfCommits)('are in the log once when %s', async (_, fault) => {
    const location = fresh();
    await create(location);
    const table = await tablesAt(faults.endpoint).open('appended', location);
    if (table === undefined) throw new TypeError('no table');
    const settings = { maxRebaseAttempts: 20, verifyTimeoutMs: 10_000, backoff: { initialMs: 100, maxMs: 200 } };
    const committer = new TableCommitter({ table, clock, random, observer: silentCommitObserver, settings });
    for (let index = 0; index < 3; index++) {
      faults.fail({ method: 'PUT', path: /_delta_log\/\d{20}\.json/, fault });
      const intent = intentOf(index);
      for (const { path } of intent.files) await server?.opener()(location).put(path, new Uint8Array(1));
      const result = await committer.commit(intent, table.writeSpec(await committer.base()));
      expect(result).toEqual({ kind: 'committed', version: index + 1 });
    }
    await faults.settled();
    expect(await addedByVersion(location)).toEqual([[], ['writer-0.parquet'], ['writer-1.parquet'], ['writer-2.parquet']]);
  });

  it.each(faultsOfCommits)('of a Session insert every row once when %s', async (_, fault) => {
    const location = fresh();
    const config = Object.entries({ ...server?.properties(faults.endpoint), ...patience });
    await using given = await temporarySession(Object.fromEntries(config));
    const { session } = given;
    await session.sql(`CREATE TABLE t (id BIGINT) USING delta LOCATION '${location}'`);
    for (let index = 0; index < 2; index++) {
      faults.fail({ method: 'PUT', path: /_delta_log\/\d{20}\.json/, fault });
      await session.sql(`INSERT INTO t SELECT id FROM range(${index * 3}, ${index * 3 + 3})`);
    }
    await faults.settled();
    const ids = (await (await session.sql('SELECT id FROM t ORDER BY id')).collect()).map((row) => row['id']);
    expect(ids).toEqual([0n, 1n, 2n, 3n, 4n, 5n]);
    expect((await addedByVersion(location)).map((added) => added.length)).toEqual([0, 1, 1]);
  });

  it('of four processes at once are all in the log, once each, while one in five answers is lost or wrong', async () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    console.log(`seed ${seed}`);
    const draws = new SeededRandom(seed);
    const location = fresh();
    await create(location);
    faults.choose = (method, path) => {
      if (method !== 'PUT' || !/_delta_log\/\d{20}\.json/.test(path) || draws.next() >= 0.2) return undefined;
      const kinds = faultsOfCommits.map(([, fault]) => fault).filter((fault) => fault.kind !== 'never-answer');
      return kinds[Math.floor(draws.next() * kinds.length)];
    };
    const properties = JSON.stringify({ ...server?.properties(faults.endpoint), ...patience, 's3.request-timeout-ms': '10000' });
    const script = `${support}s3-appender.ts`;
    const appender = async (name: string): Promise<unknown> => {
      const args = [`--import=${support}run-typescript.mjs`, script, location, name, '50', properties];
      const { stdout } = await run(process.execPath, args, { env: { ...process.env, NODE_NO_WARNINGS: '1' } });
      return JSON.parse(stdout) as unknown;
    };
    const names = ['a', 'b', 'c', 'd'];
    const results = await Promise.all(names.map(appender));
    for (const result of results) expect(result).toMatchObject({ committed: 50 });
    await faults.settled();
    const versions = await addedByVersion(location);
    expect(versions.flat().toSorted()).toEqual(
      names.flatMap((name) => Array.from({ length: 50 }, (_, index) => `${name}-${index}.parquet`)).toSorted(),
    );
    // In each writer's own order.
    for (const name of names) {
      const own = versions.flat().filter((path) => path.startsWith(`${name}-`));
      expect(own).toEqual(Array.from({ length: 50 }, (_, index) => `${name}-${index}.parquet`));
    }
    expect(faults.seen.filter(({ fault }) => fault !== undefined).length).toBeGreaterThan(20);
  });
});
