import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import Database from 'libsql';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { RandomIdSource } from '../../../../src/base/ids.ts';
import { SystemClock } from '../../../../src/base/system-clock.ts';
import { SystemRandom } from '../../../../src/base/system-random.ts';
import { openSqlConnection } from '../../../../src/catalog/sql/open-sql-connection.ts';
import type { SqlConnection } from '../../../../src/catalog/sql/sql-connection.ts';
import { sqlError } from '../../../../src/catalog/sql/sql-errors.ts';
import { SqlTablePointer } from '../../../../src/catalog/sql/sql-table-pointer.ts';
import { SqlTableRows } from '../../../../src/catalog/sql/sql-table-rows.ts';
import { objectStoreOpener } from '../../../../src/storage/open-object-store.ts';
import type { StagedFiles } from '../../../../src/table/staged-presence.ts';
import { describeTablePointer } from '../../../conformance/table-pointer.ts';
import { appended, committed, creation, loaded } from '../../../support/iceberg-changes.ts';
import { removeDirectory, temporaryDirectory } from '../../../support/servers.ts';

const clock = new SystemClock();
const random = new SystemRandom();
const ids = new RandomIdSource(random);
const openStore = objectStoreOpener({ clock, ids });
const directory = temporaryDirectory('sqlite');
const opened: SqlConnection[] = [];
let databases = 0;

afterEach(async () => {
  for (const connection of opened.splice(0)) await connection.close();
});
afterAll(() => {
  removeDirectory(directory);
});

function newDatabase(): string {
  databases += 1;
  return join(directory, `catalog${databases}.db`);
}

function connect(file: string, parameters = ''): SqlConnection {
  const connection = openSqlConnection({ uri: `jdbc:sqlite:file:${file}${parameters}` }, { clock, random });
  opened.push(connection);
  return connection;
}

function rowsOf(connection: SqlConnection, options: { readonly upgrade?: boolean; readonly createTables?: boolean } = {}): SqlTableRows {
  return new SqlTableRows(connection, 'lake', { createTables: true, upgrade: false, ...options });
}

function pointerOf(rows: SqlTableRows, name = 't'): SqlTablePointer {
  return new SqlTablePointer({ name: `lake.db.${name}`, ident: { namespace: ['db'], name }, rows, openStore, clock, ids });
}

describeTablePointer('a row of a SQLite database', () => {
  const file = newDatabase();
  const location = `${file}.tables/t`;
  const reopen = (): SqlTablePointer => pointerOf(rowsOf(connect(file)));
  return Promise.resolve({ pointer: reopen(), reopen, location });
});

describe('SqlTablePointer', () => {
  it('numbers metadata files and leaves none behind after a conflict', async () => {
    const file = newDatabase();
    const location = `${file}.tables/t`;
    const pointer = pointerOf(rowsOf(connect(file)));
    const base = committed(await pointer.swap(undefined, creation({ location })));
    expect(base.metadataLocation).toMatch(/\/metadata\/00000-[0-9a-f-]{36}\.metadata\.json$/);
    const next = committed(await pointer.swap(base, appended(base, 1n)));
    expect(next.metadataLocation).toMatch(/\/metadata\/00001-[0-9a-f-]{36}\.metadata\.json$/);
    expect(await pointer.swap(base, appended(base, 2n))).toMatchObject({ kind: 'conflicted' });
    expect(readdirSync(join(location, 'metadata'))).toHaveLength(2);
  });

  it('asks whether all is there when nothing is left but the row, its own file among what is asked for', async () => {
    const file = newDatabase();
    const folder = join(`${file}.tables/t`, 'metadata');
    const pointer = pointerOf(rowsOf(connect(file)));
    const base = committed(await pointer.swap(undefined, creation({ location: `${file}.tables/t` })));
    const before = readdirSync(folder);
    const named: unknown[] = [];
    const prove = (written?: StagedFiles): Promise<undefined> => {
      named.push(readdirSync(folder).filter((name) => !before.includes(name)));
      named.push(written?.paths.map((path) => basename(path)));
      return Promise.reject(new Error('gone'));
    };
    await expect(pointer.swap(base, { ...appended(base, 1n), prove })).rejects.toThrow('gone');
    expect(named[0]).toHaveLength(1);
    expect(named[1]).toEqual(named[0]);
    expect(readdirSync(folder)).toEqual(before);
  });

  it('writes metadata where the table wants it', async () => {
    const file = newDatabase();
    const elsewhere = `${file}.metadata`;
    const pointer = pointerOf(rowsOf(connect(file)));
    const properties = { 'write.metadata.path': `${elsewhere}/` };
    const base = committed(await pointer.swap(undefined, creation({ location: `${file}.tables/t`, properties })));
    expect(base.metadataLocation?.startsWith(`${elsewhere}/00000-`)).toBe(true);
    expect((await loaded(pointerOf(rowsOf(connect(file))))).metadata).toEqual(base.metadata);
  });

  it('knows its commit when the answer was lost, and says so when it cannot know', async () => {
    const file = newDatabase();
    const location = `${file}.tables/t`;
    const real = connect(file);
    let lose: 'nothing' | 'answers' | 'statements' = 'nothing';
    const lossy: SqlConnection = {
      dialect: 'sqlite',
      shown: real.shown,
      query: (...args) => real.query(...args),
      execute: async (...args) => {
        const changed = lose === 'statements' ? 0 : await real.execute(...args);
        if (lose === 'nothing') return changed;
        throw sqlError('unknown', real.shown, 'the connection was lost');
      },
      close: () => real.close(),
    };
    const pointer = pointerOf(rowsOf(lossy));
    const base = committed(await pointer.swap(undefined, creation({ location })));
    lose = 'answers';
    const next = committed(await pointer.swap(base, appended(base, 1n)));
    lose = 'statements';
    const files = readdirSync(join(location, 'metadata')).length;
    expect(await pointer.swap(next, appended(next, 2n))).toMatchObject({ kind: 'unknown' });
    // It may still land: its metadata stays.
    expect(readdirSync(join(location, 'metadata'))).toHaveLength(files + 1);
  });
});

describe('SqliteConnection', () => {
  it('waits for the lock of another program without stopping this one', async () => {
    const file = newDatabase();
    const connection = connect(file);
    await connection.execute('CREATE TABLE t(a)', []);
    const other = new Database(file);
    other.exec('BEGIN IMMEDIATE');
    const writing = connection.execute("INSERT INTO t VALUES ('x')", []);
    await new Promise((done) => setTimeout(done, 100));
    expect(await Promise.race([writing, Promise.resolve('waiting')])).toBe('waiting');
    other.exec('COMMIT');
    other.close();
    expect(await writing).toBe(1);
  });

  it('gives up after the time the URI says, having changed nothing', async () => {
    const file = newDatabase();
    const connection = connect(file, '?busy_timeout=50');
    await connection.execute('CREATE TABLE t(a)', []);
    const other = new Database(file);
    other.exec('BEGIN IMMEDIATE');
    await expect(connection.execute("INSERT INTO t VALUES ('x')", [])).rejects.toMatchObject({
      code: 'SQL_CATALOG_UNAVAILABLE',
      kind: 'unavailable',
    });
    other.exec('COMMIT');
    other.close();
    expect(await connection.query('SELECT * FROM t', [])).toEqual([]);
  });

  it.each([
    ['reading', (connection: SqlConnection) => connection.query('SELECT a FROM t', [])],
    ['writing', (connection: SqlConnection) => connection.execute("INSERT INTO t VALUES ('x')", [])],
  ])('holds no lock after it has met one when %s', async (_, use) => {
    // The driver leaves a statement that finds the database locked half run: locks taken later were never given back, and an idle process
    // kept all others from writing.
    const file = newDatabase();
    const connection = connect(file, '?busy_timeout=30');
    await connection.execute('CREATE TABLE t(a)', []);
    const other = new Database(file);
    other.exec('BEGIN EXCLUSIVE');
    await expect(use(connection)).rejects.toMatchObject({ kind: 'unavailable' });
    other.exec("INSERT INTO t VALUES ('y')");
    other.exec('COMMIT');
    expect(await connection.query('SELECT a FROM t', [])).toEqual([{ a: 'y' }]);
    other.exec('BEGIN EXCLUSIVE');
    other.exec('COMMIT');
    other.close();
  });

  it('changes nothing when a reader keeps it from committing', async () => {
    const file = newDatabase();
    const connection = connect(file, '?busy_timeout=30');
    await connection.execute('CREATE TABLE t(a)', []);
    const other = new Database(file);
    other.exec('BEGIN');
    expect(other.prepare('SELECT count(*) AS n FROM t').all([])).toEqual([{ n: 0 }]);
    await expect(connection.execute("INSERT INTO t VALUES ('x')", [])).rejects.toMatchObject({ kind: 'unavailable' });
    other.exec('COMMIT');
    expect(await connection.query('SELECT a FROM t', [])).toEqual([]);
    expect(await connection.execute("INSERT INTO t VALUES ('x')", [])).toBe(1);
    other.close();
  });

  it('leaves the journal mode as it finds it', async () => {
    const file = newDatabase();
    const other = new Database(file);
    other.exec('PRAGMA journal_mode = WAL');
    other.exec('CREATE TABLE t(a)');
    const connection = connect(file);
    await connection.execute("INSERT INTO t VALUES ('x')", []);
    expect(await connection.query('PRAGMA journal_mode', [])).toEqual([{ journal_mode: 'wal' }]);
    other.close();
  });

  it('says that a database in a directory that does not exist is not available', async () => {
    const connection = connect(join(directory, 'nowhere', 'catalog.db'));
    await expect(connection.query('SELECT 1', [])).rejects.toMatchObject({ code: 'SQL_CATALOG_UNAVAILABLE' });
  });
});

describe('layout of SQL catalogs', () => {
  const older =
    'CREATE TABLE iceberg_tables(catalog_name VARCHAR(255) NOT NULL,table_namespace VARCHAR(255) NOT NULL,table_name VARCHAR(255) NOT NULL,metadata_location VARCHAR(1000),previous_metadata_location VARCHAR(1000),PRIMARY KEY (catalog_name, table_namespace, table_name))';
  const namespaces =
    'CREATE TABLE iceberg_namespace_properties(catalog_name VARCHAR(255) NOT NULL,namespace VARCHAR(255) NOT NULL,property_key VARCHAR(255),property_value VARCHAR(1000),PRIMARY KEY (catalog_name, namespace, property_key))';

  async function columnsOf(connection: SqlConnection): Promise<readonly (string | undefined)[]> {
    return (await connection.query('PRAGMA table_info(iceberg_tables)', [])).map((row) => row['name']);
  }

  it('is made with the column that tells tables from views', async () => {
    const connection = connect(newDatabase());
    await rowsOf(connection).insert({ namespace: ['db'], name: 't' }, '/m/00000-a.metadata.json');
    expect(await columnsOf(connection)).toContain('iceberg_type');
    expect(await connection.query('SELECT iceberg_type FROM iceberg_tables', [])).toEqual([{ iceberg_type: 'TABLE' }]);
  });

  it('of the older version is used as it is, and extended only when asked', async () => {
    const file = newDatabase();
    const connection = connect(file);
    for (const statement of [older, namespaces]) await connection.execute(statement, []);
    const ident = { namespace: ['db'], name: 't' };
    const rows = rowsOf(connection);
    expect(await rows.insert(ident, '/m/00000-a.metadata.json')).toBe(true);
    expect(await rows.insert(ident, '/m/00000-b.metadata.json')).toBe(false);
    expect(await columnsOf(connection)).not.toContain('iceberg_type');
    const upgraded = rowsOf(connect(file), { upgrade: true });
    expect((await upgraded.find(ident))?.metadataLocation).toBe('/m/00000-a.metadata.json');
    expect(await columnsOf(connection)).toContain('iceberg_type');
    expect(await rowsOf(connect(file)).replace(ident, { from: '/m/00000-a.metadata.json', to: '/m/1' })).toBe(true);
  });

  it('is not made when the settings forbid it', async () => {
    const file = newDatabase();
    await expect(rowsOf(connect(file), { createTables: false }).tables(['db'])).rejects.toMatchObject({ code: 'SQL_CATALOG_REFUSED' });
  });

  it('is made once by many that begin at the same time', async () => {
    const file = newDatabase();
    const all = Array.from({ length: 8 }, () => rowsOf(connect(file)));
    const made = await Promise.all(all.map((rows) => rows.insert({ namespace: ['db'], name: 't' }, '/m/0')));
    expect(made.filter(Boolean)).toHaveLength(1);
  });

  it('shows no views among tables', async () => {
    const connection = connect(newDatabase());
    const rows = rowsOf(connection);
    await rows.insert({ namespace: ['db'], name: 't' }, '/m/0');
    await connection.execute(
      "INSERT INTO iceberg_tables VALUES ('lake', 'db', 'v', '/m/1', NULL, 'VIEW'), ('lake', 'db', 'old', '/m/2', NULL, NULL), ('other', 'db', 'x', '/m/3', NULL, 'TABLE')",
      [],
    );
    expect([...(await rows.tables(['db']))].sort()).toEqual(['old', 't']);
    expect(await rows.find({ namespace: ['db'], name: 'v' })).toBeUndefined();
  });

  it('does not take _ and % in names for patterns', async () => {
    const rows = rowsOf(connect(newDatabase()));
    await rows.insertNamespace(['axb', 'c']);
    expect(await rows.hasNamespace(['a_b'])).toBe(false);
    expect(await rows.hasNamespace(['%'])).toBe(false);
    expect(await rows.hasNamespace(['axb'])).toBe(true);
  });
});

describe('SQLite files', () => {
  it('are made where the URI says', async () => {
    const file = newDatabase();
    expect(existsSync(file)).toBe(false);
    await rowsOf(connect(file)).insertNamespace(['db']);
    expect(existsSync(file)).toBe(true);
  });
});
