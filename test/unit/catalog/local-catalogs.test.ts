import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { RandomIdSource } from '../../../src/base/ids.ts';
import { SystemClock } from '../../../src/base/system-clock.ts';
import { SystemRandom } from '../../../src/base/system-random.ts';
import type { IcebergCatalog } from '../../../src/catalog/iceberg-catalog.ts';
import { openIcebergCatalog } from '../../../src/catalog/open-iceberg-catalog.ts';
import { objectStoreOpener } from '../../../src/storage/open-object-store.ts';
import { type CatalogCase, describeIcebergCatalog } from '../../conformance/iceberg-catalog.ts';
import { describeIcebergViews } from '../../conformance/iceberg-views.ts';
import { pointerTables } from '../../support/iceberg-pointer-tables.ts';
import { removeDirectory, temporaryDirectory } from '../../support/servers.ts';

const clock = new SystemClock();
const random = new SystemRandom();
const ids = new RandomIdSource(random);
const parts = { openStore: objectStoreOpener({ clock, ids }), clock, random, ids };
const directory = temporaryDirectory('catalogs');
const opened: IcebergCatalog[] = [];
let cases = 0;

afterEach(async () => {
  for (const catalog of opened.splice(0)) await catalog.close();
});
afterAll(() => {
  removeDirectory(directory);
});

function open(properties: Readonly<Record<string, string>>): IcebergCatalog {
  const dependencies = { ...parts, tables: pointerTables(parts), absolutePath: (path: string) => path };
  const catalog = openIcebergCatalog('lake', new Map(Object.entries(properties)), dependencies);
  opened.push(catalog);
  return catalog;
}

function catalogCase(settings: (folder: string) => Readonly<Record<string, string>>): Promise<CatalogCase> {
  cases += 1;
  const folder = join(directory, `case${cases}`);
  mkdirSync(folder);
  return Promise.resolve({
    open: (properties = {}) => open({ ...settings(folder), ...properties }),
    elsewhere: join(folder, 'elsewhere'),
  });
}

const hadoop = (folder: string): Readonly<Record<string, string>> => ({ type: 'hadoop', warehouse: join(folder, 'warehouse') });
const sqlite = (folder: string): Readonly<Record<string, string>> => ({
  type: 'jdbc',
  uri: `jdbc:sqlite:file:${join(folder, 'catalog.db')}`,
  warehouse: join(folder, 'warehouse'),
});

describeIcebergCatalog('a directory', { placesByName: true, needsNamespaces: false }, () => catalogCase(hadoop));
describeIcebergCatalog('a SQLite database', { placesByName: false, needsNamespaces: false }, () => catalogCase(sqlite));
describeIcebergCatalog('a strict SQLite database', { placesByName: false, needsNamespaces: true }, () =>
  catalogCase((folder) => ({ ...sqlite(folder), 'jdbc.strict-mode': 'true' })),
);

describeIcebergViews('a SQLite database', () => catalogCase(sqlite));
describeIcebergViews('a strict SQLite database', () => catalogCase((folder) => ({ ...sqlite(folder), 'jdbc.strict-mode': 'true' })));

describe('catalogs of directories', () => {
  it('have the folders that others made for namespaces', async () => {
    const { open: openCatalog, elsewhere } = await catalogCase(hadoop);
    mkdirSync(join(elsewhere, '..', 'warehouse', 'made', 'by hand'), { recursive: true });
    expect(await openCatalog().namespaces()).toEqual([['made']]);
    expect(await openCatalog().namespaces(undefined, ['made'])).toEqual([['made', 'by hand']]);
  });

  it('make folders without marks, which others would take for content', async () => {
    const { open: openCatalog, elsewhere } = await catalogCase(hadoop);
    await openCatalog().createNamespace(['db']);
    expect(readdirSync(join(elsewhere, '..', 'warehouse', 'db'))).toEqual([]);
  });

  it('leave nothing of a table that is dropped', async () => {
    const { open: openCatalog, elsewhere } = await catalogCase(hadoop);
    const catalog = openCatalog();
    const definition = { schema: { kind: 'struct', fields: [] }, partitionColumns: [], properties: {} } as const;
    const t = { namespace: ['db'], name: 't' };
    await catalog.create(t, { format: 'iceberg', mode: 'create', definition });
    await catalog.drop(t, { purge: false });
    expect(readdirSync(join(elsewhere, '..', 'warehouse', 'db'))).toEqual([]);
  });

  it.each(['..', '.hidden', 'a/b', ''])('refuse the name "%s"', async (name) => {
    const { open: openCatalog } = await catalogCase(hadoop);
    await expect(openCatalog().createNamespace([name])).rejects.toMatchObject({ errorClass: 'INVALID_SCHEMA_OR_RELATION_NAME' });
  });
});

describe('settings of catalogs', () => {
  it.each([
    [{ type: 'hive', warehouse: '/w' }, 'has type "hive", which this version does not have'],
    [{ 'catalog-impl': 'org.apache.iceberg.aws.glue.GlueCatalog' }, 'has class "org.apache.iceberg.aws.glue.GlueCatalog"'],
    [{ type: 'hadoop' }, 'has no warehouse'],
    [{ type: 'hadoop', warehouse: '/w', warehose: '/v' }, 'has the key "warehose"'],
    [{ type: 'hadoop', warehouse: '/w', 'jdbc.user': 'me' }, 'has the key "jdbc.user"'],
    [{ type: 'jdbc', warehouse: '/w' }, 'has no uri'],
    [{ type: 'jdbc', warehouse: '/w', uri: 'jdbc:mysql://u:hunter2@h/db' }, '"jdbc:mysql://***@h/db" is not the URI'],
    [{ type: 'jdbc', warehouse: '/w', uri: 'jdbc:postgresql://h/db?password=hunter2&foo=1' }, 'has the parameter "foo"'],
    [{ type: 'jdbc', warehouse: '/w', uri: 'sqlite:///x.db', 'jdbc.strict-mode': 'yes' }, 'has jdbc.strict-mode "yes"'],
    [{ type: 'jdbc', warehouse: '/w', uri: 'sqlite:///x.db', 'jdbc.schema-version': 'V9' }, 'has jdbc.schema-version "V9"'],
    [{ type: 'rest' }, 'has no http or https uri'],
    [{ type: 'rest', uri: 'http://u:hunter2@h' }, 'has credentials in its uri'],
    [{ type: 'rest', uri: 'http://h', 'rest.auth.type': 'sigv4' }, 'has rest.auth.type "sigv4"'],
  ])('%o are refused by name', (properties, message) => {
    const fail = (): unknown => open(properties);
    expect(fail).toThrow(message);
    expect(fail).not.toThrow(/hunter2/);
  });

  it('name the key that was probably meant', () => {
    expect(() => open({ type: 'hadoop', warehose: '/w', warehouse: '/w' })).toThrow(
      expect.objectContaining({ errorClass: 'CATALOG_CONFIGURATION_INVALID', hint: 'did you mean "warehouse"?' }) as Error,
    );
  });

  it.each([
    { 'catalog-impl': 'org.apache.iceberg.hadoop.HadoopCatalog', warehouse: '/w', 'cache-enabled': 'false', 'io-impl': 'x', clients: '2' },
    {
      'catalog-impl': 'org.apache.iceberg.jdbc.JdbcCatalog',
      warehouse: '/w',
      uri: 'sqlite:////x.db',
      'jdbc.user': 'u',
      'jdbc.password': 'p',
    },
    {
      'catalog-impl': 'org.apache.iceberg.rest.RESTCatalog',
      uri: 'https://h/api/',
      credential: 'a:b',
      'header.X-Y': 'z',
      's3.endpoint': 'e',
    },
  ])('%o are taken', (properties) => {
    expect(open(properties).name).toBe('lake');
  });
});
