import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { RandomIdSource } from '../../src/base/ids.ts';
import { Secret } from '../../src/base/secret.ts';
import { SystemClock } from '../../src/base/system-clock.ts';
import { SystemRandom } from '../../src/base/system-random.ts';
import type { IcebergCatalog } from '../../src/catalog/iceberg-catalog.ts';
import { openIcebergCatalog } from '../../src/catalog/open-iceberg-catalog.ts';
import { RestClient } from '../../src/catalog/rest/rest-client.ts';
import { RestNames } from '../../src/catalog/rest/rest-names.ts';
import { restSettings } from '../../src/catalog/rest/rest-settings.ts';
import { RestTablePointer } from '../../src/catalog/rest/rest-table-pointer.ts';
import { openSqlConnection } from '../../src/catalog/sql/open-sql-connection.ts';
import type { SqlConnection } from '../../src/catalog/sql/sql-connection.ts';
import { SqlTablePointer } from '../../src/catalog/sql/sql-table-pointer.ts';
import { SqlTableRows } from '../../src/catalog/sql/sql-table-rows.ts';
import { objectStoreOpener } from '../../src/storage/open-object-store.ts';
import { describeIcebergCatalog } from '../conformance/iceberg-catalog.ts';
import { describeIcebergViews, viewOf, viewsOf } from '../conformance/iceberg-views.ts';
import { describeTablePointer } from '../conformance/table-pointer.ts';
import { appended, committed, creation, loaded } from '../support/iceberg-changes.ts';
import { pointerTables } from '../support/iceberg-pointer-tables.ts';
import { LossyProxy } from '../support/lossy-proxy.ts';
import { privatePostgres, type TestPostgres } from '../support/postgres.ts';
import { backendCatalog, privateRestCatalog, type TestRestCatalog } from '../support/rest-catalog.ts';
import { type PrivateServer, removeDirectory, temporaryDirectory } from '../support/servers.ts';

const clock = new SystemClock();
const random = new SystemRandom();
const ids = new RandomIdSource(random);
const openStore = objectStoreOpener({ clock, ids });
const directory = temporaryDirectory('iceberg-catalogs');
const postgres: PrivateServer<TestPostgres> | undefined = await privatePostgres();
const rest: PrivateServer<TestRestCatalog> | undefined = await privateRestCatalog();
const hadoopRest: PrivateServer<TestRestCatalog> | undefined = await privateRestCatalog('hadoop');
const connections: { close(): Promise<void> }[] = [];
let tables = 0;

afterAll(async () => {
  for (const connection of connections) await connection.close();
  await postgres?.[Symbol.asyncDispose]();
  await rest?.[Symbol.asyncDispose]();
  await hadoopRest?.[Symbol.asyncDispose]();
  removeDirectory(directory);
});

function openCatalog(properties: Readonly<Record<string, string>>): IcebergCatalog {
  const dependencies = {
    tables: pointerTables({ openStore, clock, random, ids }),
    openStore,
    clock,
    random,
    ids,
    absolutePath: (path: string) => path,
  };
  const catalog = openIcebergCatalog('lake', new Map(Object.entries(properties)), dependencies);
  connections.push(catalog);
  return catalog;
}

function nextTable(): string {
  tables += 1;
  return `t${tables}`;
}

describe.skipIf(postgres === undefined)('PostgreSQL', () => {
  function connect(address = postgres?.server.address ?? ''): SqlConnection {
    const { user, password } = postgres!.server;
    const connection = openSqlConnection(
      { uri: `jdbc:postgresql://${address}/postgres`, user, password: new Secret(password) },
      { clock, random },
    );
    connections.push(connection);
    return connection;
  }

  function pointerTo(name: string, connection: SqlConnection): SqlTablePointer {
    const rows = new SqlTableRows(connection, 'lake', { createTables: true, upgrade: false });
    return new SqlTablePointer({ name: `lake.db.${name}`, ident: { namespace: ['db'], name }, rows, openStore, clock, ids });
  }

  describeTablePointer('a row of a PostgreSQL database', () => {
    const name = nextTable();
    const reopen = (): SqlTablePointer => pointerTo(name, connect());
    return Promise.resolve({ pointer: reopen(), reopen, location: join(directory, name) });
  });

  describeIcebergCatalog('a PostgreSQL database', { placesByName: false, needsNamespaces: false }, () => {
    const name = nextTable();
    const { address, user, password } = postgres!.server;
    const settings = {
      type: 'jdbc',
      uri: `jdbc:postgresql://${address}/postgres`,
      'jdbc.user': user,
      'jdbc.password': password,
      'jdbc.catalog-name': name,
      warehouse: join(directory, name),
    };
    return Promise.resolve({
      open: (properties = {}) => openCatalog({ ...settings, ...properties }),
      elsewhere: join(directory, `${name}-elsewhere`),
    });
  });

  describeIcebergViews('a PostgreSQL database', () => {
    const name = nextTable();
    const { address, user, password } = postgres!.server;
    const settings = {
      type: 'jdbc',
      uri: `jdbc:postgresql://${address}/postgres`,
      'jdbc.user': user,
      'jdbc.password': password,
      'jdbc.catalog-name': name,
      warehouse: join(directory, name),
    };
    return Promise.resolve({ open: () => openCatalog(settings) });
  });

  it('is reached with the password in the URI, which no error shows', async () => {
    const { address, user, password } = postgres!.server;
    const uri = (secret: string): string => `postgresql://${user}:${encodeURIComponent(secret)}@${address}/postgres`;
    const right = openSqlConnection({ uri: uri(password) }, { clock, random });
    connections.push(right);
    expect(await right.query('SELECT 1 AS one', [])).toEqual([{ one: '1' }]);
    const wrong = openSqlConnection({ uri: uri('hunter2') }, { clock, random });
    connections.push(wrong);
    const error: unknown = await wrong.query('SELECT 1', []).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: 'SQL_CATALOG_UNAVAILABLE',
      message: expect.stringMatching(/password authentication failed/) as string,
    });
    expect(String(error)).not.toContain('hunter2');
  });

  it('says that a server which does not run is not available', async () => {
    const nobody = connect('127.0.0.1:1');
    await expect(nobody.execute('SELECT 1', [])).rejects.toMatchObject({ code: 'SQL_CATALOG_UNAVAILABLE', kind: 'unavailable' });
  });

  it('knows of a commit whose answer was lost on the way that it has landed', async () => {
    const name = nextTable();
    const location = join(directory, name);
    const straight = pointerTo(name, connect());
    const base = committed(await straight.swap(undefined, creation({ location })));
    await using proxy = await LossyProxy.start(postgres!.server.port);
    const lossy = pointerTo(name, connect(`127.0.0.1:${proxy.port}`));
    expect((await loaded(lossy)).metadataLocation).toBe(base.metadataLocation);
    proxy.loseAnswersTo('UPDATE iceberg_tables');
    const outcome = await lossy.swap(base, appended(base, 7n));
    expect(proxy.lost).toBe(1);
    const next = committed(outcome);
    expect((await loaded(straight)).metadataLocation).toBe(next.metadataLocation);
  });

  it('knows of views whose answers were lost on the way that they are made and changed', async () => {
    const name = nextTable();
    const { user, password, address, port } = postgres!.server;
    const open = (at: string): IcebergCatalog =>
      openCatalog({
        type: 'jdbc',
        uri: `jdbc:postgresql://${at}/postgres`,
        'jdbc.user': user,
        'jdbc.password': password,
        'jdbc.catalog-name': name,
        warehouse: join(directory, name),
      });
    const straight = viewsOf(open(address));
    await using proxy = await LossyProxy.start(port);
    const lossy = viewsOf(open(`127.0.0.1:${proxy.port}`));
    const view = { namespace: ['db'], name: 'v' };
    expect(await lossy.load(view)).toBeUndefined();
    proxy.loseAnswersTo('INSERT INTO iceberg_tables');
    await lossy.create(view, viewOf('SELECT 1L AS id'), 'create');
    expect(proxy.lost).toBe(1);
    proxy.loseAnswersTo('UPDATE iceberg_tables');
    await lossy.setProperties(view, { a: '1' });
    expect(proxy.lost).toBe(2);
    expect(await straight.load(view)).toMatchObject({ query: 'SELECT 1L AS id', properties: { a: '1' } });
  });

  it('says that it does not know when it cannot ask either', async () => {
    const name = nextTable();
    const straight = pointerTo(name, connect());
    const base = committed(await straight.swap(undefined, creation({ location: join(directory, name) })));
    await using proxy = await LossyProxy.start(postgres!.server.port);
    const lossy = pointerTo(name, connect(`127.0.0.1:${proxy.port}`));
    await loaded(lossy);
    proxy.loseAnswersTo('UPDATE iceberg_tables', { andEverythingAfter: true });
    expect(await lossy.swap(base, appended(base, 7n))).toMatchObject({ kind: 'unknown' });
    expect((await loaded(straight)).metadata.currentSnapshotId).toBe(7n);
  });
});

describe.skipIf(rest === undefined)('the reference REST server', () => {
  const restCatalog = (properties: Readonly<Record<string, string>> = {}): IcebergCatalog =>
    openCatalog({ type: 'rest', uri: rest?.server.uri ?? '', ...properties });

  describeIcebergCatalog('a REST server', { placesByName: false, needsNamespaces: true }, async () => {
    const catalog = restCatalog();
    for (const namespace of await catalog.namespaces()) await catalog.dropNamespace(namespace, { cascade: true });
    return { open: restCatalog, elsewhere: join(rest?.server.warehouse ?? '', 'elsewhere', nextTable()) };
  });

  describeIcebergViews('a REST server', async () => {
    const catalog = restCatalog();
    for (const namespace of await catalog.namespaces()) await catalog.dropNamespace(namespace, { cascade: true });
    return { open: restCatalog };
  });

  function client(properties: Readonly<Record<string, string>> = {}): RestClient {
    const settings = restSettings('rest', new Map(Object.entries({ uri: rest?.server.uri ?? '', ...properties })));
    return new RestClient({ settings, clock, ids });
  }

  const makeNamespace = async (): Promise<void> => {
    await new RestNames({ client: client(), nameOf: (ident) => ident.name }).createNamespace(['db']);
  };
  beforeEach(makeNamespace);

  describeTablePointer('a table of a REST catalog', () => {
    const name = nextTable();
    const ident = { namespace: ['db'], name };
    const reopen = (): RestTablePointer => new RestTablePointer({ name: `rest.db.${name}`, ident, client: client() });
    return Promise.resolve({ pointer: reopen(), reopen, location: join(rest?.server.warehouse ?? '', 'db', name) });
  });

  it('is asked with a token when there is a credential', async () => {
    const name = nextTable();
    const withToken = client({ credential: 'me:secret', scope: 'catalog' });
    const pointer = new RestTablePointer({ name, ident: { namespace: ['db'], name }, client: withToken });
    expect(await pointer.load(undefined)).toBeUndefined();
  });

  it('changes several tables together, or none of them', async () => {
    const names = new RestNames({ client: client(), nameOf: (ident) => ident.name });
    const made = await Promise.all(
      [nextTable(), nextTable()].map(async (name) => {
        const ident = { namespace: ['db'], name };
        const location = join(rest!.server.warehouse, 'db', name);
        const base = committed(await names.pointer(ident).swap(undefined, creation({ location, uuid: ids.uuid() })));
        return { ident, base };
      }),
    );
    const changes = made.map(({ ident, base }) => ({ ident, base, change: appended(base, 5n) }));
    expect(await names.commitTogether(changes)).toEqual({ kind: 'committed' });
    const [first, second] = await Promise.all(made.map(({ ident }) => loaded(names.pointer(ident))));
    expect([first?.metadata.currentSnapshotId, second?.metadata.currentSnapshotId]).toEqual([5n, 5n]);
    const stale = [
      { ...made[0]!, base: first!, change: appended(first!, 6n) },
      { ...made[1]!, change: appended(made[1]!.base, 7n) },
    ];
    expect(await names.commitTogether(stale)).toMatchObject({ kind: 'conflicted' });
    expect((await loaded(names.pointer(made[0]!.ident))).metadata.currentSnapshotId).toBe(5n);
  });

  it('leaves the outcome open when the answer to a commit was lost', async () => {
    const name = nextTable();
    const ident = { namespace: ['db'], name };
    const location = join(rest?.server.warehouse ?? '', 'db', name);
    const straight = new RestTablePointer({ name, ident, client: client() });
    const base = committed(await straight.swap(undefined, creation({ location })));
    await using proxy = await LossyProxy.start(rest!.server.port);
    const lossy = new RestTablePointer({ name, ident, client: client({ uri: `http://127.0.0.1:${proxy.port}` }) });
    await loaded(lossy);
    proxy.loseAnswersTo(`POST /v1/namespaces/db/tables/${name}`);
    expect(await lossy.swap(base, appended(base, 7n))).toMatchObject({ kind: 'unknown' });
    expect(proxy.lost).toBe(1);
    expect((await loaded(straight)).metadata.currentSnapshotId).toBe(7n);
  });
});

describe.skipIf(rest === undefined || hadoopRest === undefined)('catalogs of Java and of this program', () => {
  const places = [
    [
      'in a SQLite database',
      () => rest!.server,
      (): Readonly<Record<string, string>> => ({
        type: 'jdbc',
        uri: `jdbc:sqlite:file:${rest!.server.database}`,
        warehouse: rest!.server.warehouse,
        'jdbc.catalog-name': backendCatalog,
      }),
    ],
    [
      'in a directory',
      () => hadoopRest!.server,
      (): Readonly<Record<string, string>> => ({ type: 'hadoop', warehouse: hadoopRest!.server.warehouse }),
    ],
  ] as const;

  it.each(places)('%s have the same tables, and change them in turns', async (_, server, settings) => {
    const java = openCatalog({ type: 'rest', uri: server().uri });
    const ours = openCatalog(settings());
    await ours.createNamespace(['ours', 'inner']);
    expect(await java.namespaces(undefined, ['ours'])).toEqual([['ours', 'inner']]);
    const [t, u] = [
      { namespace: ['ours', 'inner'], name: 'mine' },
      { namespace: ['theirs'], name: 'yours' },
    ];
    const definition = {
      schema: { kind: 'struct', fields: [{ name: 'id', type: { kind: 'long' }, nullable: true }] },
      partitionColumns: [],
      properties: {},
    } as const;
    await ours.create(t, { format: 'iceberg', mode: 'create', definition });
    await java.createNamespace(['theirs']);
    await java.create(u, { format: 'iceberg', mode: 'create', definition });
    for (const catalog of [ours, java]) {
      expect(await catalog.tables(['ours', 'inner'])).toEqual([t]);
      expect(await catalog.tables(['theirs'])).toEqual([u]);
    }
    for (const table of [t, u]) {
      for (const [turn, [catalog, other]] of [[ours, java] as const, [java, ours] as const, [ours, java] as const].entries()) {
        const properties = { [`turn${turn}`]: 'yes' };
        await (await catalog.load(table))?.operations.alter({ kind: 'set-properties', properties });
        expect((await (await other.load(table))?.refresh())?.properties).toMatchObject(properties);
      }
    }
    await ours.drop(u, { purge: true });
    await java.drop(t, { purge: false });
    for (const catalog of [ours, java]) expect(await catalog.load(t)).toBeUndefined();
    expect(await java.load(u)).toBeUndefined();
  });

  it('have the same views, and change them in turns', async () => {
    const [[, server, settings]] = places;
    const java = openCatalog({ type: 'rest', uri: server().uri });
    const ours = openCatalog(settings());
    await ours.createNamespace(['views']);
    const turns = [viewsOf(ours), viewsOf(java)] as const;
    for (const [index, views] of turns.entries()) {
      const [view, renamed] = [`v${index}`, `renamed${index}`].map((name) => ({ namespace: ['views'], name }));
      if (view === undefined || renamed === undefined) return;
      const [mine, theirs] = index === 0 ? turns : [turns[1], turns[0]];
      await views.create(view, viewOf('SELECT 1L AS id', { properties: { a: '1' } }), 'create');
      await theirs.create(view, viewOf('SELECT 2L AS id', { namespace: ['views'] }), 'replace');
      await mine.setProperties(view, { b: '2' });
      await theirs.unsetProperties(view, ['a'], { ifExists: false });
      const shown = await mine.load(view);
      expect(shown).toEqual(await theirs.load(view));
      expect(shown).toMatchObject({ query: 'SELECT 2L AS id', properties: { b: '2' } });
      await mine.rename(view, renamed);
      expect(await theirs.list(['views'])).toEqual([renamed]);
      expect(await theirs.drop(renamed)).toBe(true);
      expect(await mine.load(renamed)).toBeUndefined();
    }
  });

  it('of directories keep no views, and a server of them says so', async () => {
    const java = openCatalog({ type: 'rest', uri: hadoopRest!.server.uri });
    const views = viewsOf(java);
    const view = { namespace: ['without'], name: 'v' };
    await java.createNamespace(['without']);
    expect(await views.list(['without'])).toEqual([]);
    expect(await views.load(view)).toBeUndefined();
    expect(await views.drop(view)).toBe(false);
    await expect(views.create(view, viewOf('SELECT 1L AS id'), 'create')).rejects.toMatchObject({ code: 'REST_CATALOG_UNSUPPORTED' });
    await java.dropNamespace(['without'], { cascade: true });
  });
});
