import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { RandomIdSource } from '../../../../src/base/ids.ts';
import { SystemClock } from '../../../../src/base/system-clock.ts';
import { SystemRandom } from '../../../../src/base/system-random.ts';
import type { IcebergCatalog } from '../../../../src/catalog/iceberg-catalog.ts';
import { openIcebergCatalog } from '../../../../src/catalog/open-iceberg-catalog.ts';
import { IcebergTable } from '../../../../src/iceberg/iceberg-table.ts';
import { IcebergTables } from '../../../../src/iceberg/iceberg-tables.ts';
import { expireSnapshots } from '../../../../src/iceberg/operations/expire/expire-snapshots.ts';
import { removeOrphanFiles } from '../../../../src/iceberg/operations/orphans/remove-orphan-files.ts';
import type { TableContext } from '../../../../src/iceberg/table-context.ts';
import { commitSnapshot } from '../../../../src/iceberg/transaction/commit-snapshot.ts';
import { objectStoreOpener } from '../../../../src/storage/open-object-store.ts';
import { change, dataFile, definitionOf } from '../../../support/iceberg/memory-table.ts';
import { pointerTables } from '../../../support/iceberg-pointer-tables.ts';
import { removeDirectory, temporaryDirectory } from '../../../support/servers.ts';

const clock = new SystemClock();
const random = new SystemRandom();
const ids = new RandomIdSource(random);
const parts = { openStore: objectStoreOpener({ clock, ids }), clock, random, ids };
const directory = temporaryDirectory('confined');
const always = Number.MAX_SAFE_INTEGER;
const opened: IcebergCatalog[] = [];
let cases = 0;

afterEach(async () => {
  for (const catalog of opened.splice(0)) await catalog.close();
});
afterAll(() => {
  removeDirectory(directory);
});

/** A table of a catalog, with a victim's directory beside it. */
interface Case {
  readonly table: string;
  readonly victim: string;
  /** The newest metadata file, with a change that its catalog knows nothing of. */
  readonly tamper: (change: (metadata: Metadata) => Metadata) => void;
  readonly context: () => Promise<TableContext>;
  readonly purge: () => Promise<unknown>;
}

interface Metadata {
  readonly location: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly 'current-snapshot-id': number;
  readonly [name: string]: unknown;
}

const victims = ['data/kept.parquet', 'metadata/v1.metadata.json', 'stats.puffin'];

async function tampered(type: 'hadoop' | 'jdbc', allowedLocations: (victim: string) => readonly string[] = () => []): Promise<Case> {
  cases += 1;
  const folder = join(directory, `case${cases}`);
  const victim = join(folder, 'victim');
  for (const name of ['data', 'metadata']) mkdirSync(join(victim, name), { recursive: true });
  for (const name of victims) writeFileSync(join(victim, name), 'precious');
  const warehouse = join(folder, 'warehouse');
  const settings = { type, warehouse, ...(type === 'jdbc' ? { uri: `jdbc:sqlite:file:${join(folder, 'catalog.db')}` } : {}) };
  const allowed = { allowedLocations: allowedLocations(victim) };
  const tables = new IcebergTables({ ...parts, ...allowed, version: '0' });
  const dependencies = {
    ...parts,
    ...allowed,
    tables: {
      ...pointerTables(parts),
      openPointer: async (pointer: Parameters<ReturnType<typeof pointerTables>['openPointer']>[0]) => {
        const loaded = await pointer.load(undefined);
        return loaded === undefined ? undefined : { table: tables.openLoaded({ pointer }, loaded), tableId: loaded.metadata.tableUuid };
      },
    },
    absolutePath: (path: string) => path,
  };
  const catalog = (): IcebergCatalog => {
    const made = openIcebergCatalog('lake', new Map(Object.entries(settings)), dependencies);
    opened.push(made);
    return made;
  };
  const ident = { namespace: ['db'], name: 't' };
  const context = async (): Promise<TableContext> => {
    const table = await catalog().load(ident);
    if (!(table instanceof IcebergTable)) throw new Error('the table is not there');
    return table.context;
  };
  await catalog().createNamespace(['db']);
  await catalog().create(ident, { format: 'iceberg', definition: definitionOf(), mode: 'create' });
  const table = join(warehouse, 'db', 't');
  const made = await context();
  const files = ['a', 'b'].map((name) => dataFile(name, { path: `${table}/data/${name}.parquet` }));
  for (const file of files) await made.files.put(file.path, Uint8Array.of(1));
  await commitSnapshot(made, await made.refresh(), change({ added: files }));
  await commitSnapshot(made, await made.refresh(), change({ kind: 'overwrite', removed: files.slice(0, 1) }));
  const newest = (await made.refresh()).loaded.metadataLocation ?? '';
  return {
    table,
    victim,
    tamper: (alter) => {
      const metadata = JSON.parse(readFileSync(newest, 'utf8')) as Metadata;
      writeFileSync(newest, JSON.stringify(alter(metadata)));
    },
    context,
    purge: async () => catalog().drop(ident, { purge: true }),
  };
}

function untouched({ victim, table }: Case): void {
  expect(victims.filter((name) => existsSync(join(victim, name)))).toEqual(victims);
  expect(readdirSync(join(table, 'data')).toSorted()).toEqual(['a.parquet', 'b.parquet']);
}

const statistics = (metadata: Metadata, path: string): readonly unknown[] => [
  {
    'snapshot-id': metadata['current-snapshot-id'],
    'statistics-path': path,
    'file-size-in-bytes': 8,
    'file-footer-size-in-bytes': 4,
    'blob-metadata': [],
  },
];

const refused = (victim: string): object => ({
  code: 'FILE_OUTSIDE_TABLE',
  message: expect.stringContaining(victim) as string,
  hint: expect.stringContaining('allowedLocations') as string,
});

describe.each(['hadoop', 'jdbc'] as const)('metadata of a %s catalog that names a victim’s files', (type) => {
  it.each(['victim', 'root'] as const)('as its location (%s) does not get them deleted as orphans', async (which) => {
    const hostile = await tampered(type);
    const location = which === 'root' ? '/' : hostile.victim;
    hostile.tamper((metadata) => ({ ...metadata, location }));
    await expect(removeOrphanFiles(await hostile.context(), { olderThanMs: always })).rejects.toMatchObject(refused(location));
    const properties = { 'write.data.path': hostile.victim };
    hostile.tamper((metadata) => ({ ...metadata, properties }));
    const named = { olderThanMs: always, location: hostile.victim };
    await expect(removeOrphanFiles(await hostile.context(), named)).rejects.toMatchObject(refused(hostile.victim));
    untouched(hostile);
  });

  it('as a link in its directory does not get them deleted as orphans', async () => {
    const hostile = await tampered(type);
    symlinkSync(hostile.victim, join(hostile.table, 'link'));
    hostile.tamper((metadata) => ({ ...metadata, location: join(hostile.table, 'link') }));
    await removeOrphanFiles(await hostile.context(), { olderThanMs: always }).catch(() => undefined);
    untouched(hostile);
  });

  it.each(['location', 'write.data.path', 'write.metadata.path'])(
    'as its %s through a link gets no file written there, nor deleted later',
    async (key) => {
      const hostile = await tampered(type);
      const link = join(hostile.table, 'link');
      symlinkSync(hostile.victim, link);
      hostile.tamper((metadata) => ({ ...metadata, ...(key === 'location' ? { location: link } : { properties: { [key]: link } }) }));
      const before = readdirSync(hostile.victim, { recursive: true });
      const context = await hostile.context();
      const write = async (): Promise<void> => context.files.storeAt(join(link, 'data')).put('new.parquet', Uint8Array.of(1));
      await expect(write()).rejects.toMatchObject({ kind: 'invalid' });
      await commitSnapshot(context, await context.refresh(), change({ added: [] })).catch(() => undefined);
      await removeOrphanFiles(await hostile.context(), { olderThanMs: always }).catch(() => undefined);
      expect(readdirSync(hostile.victim, { recursive: true })).toEqual(before);
      await hostile.purge().catch(() => undefined);
      expect(victims.filter((name) => existsSync(join(hostile.victim, name)))).toEqual(victims);
    },
  );

  it.each(['location', 'write.data.path', 'write.metadata.path'])(
    'as its %s and statistics does not get them deleted by expiry',
    async (key) => {
      const hostile = await tampered(type);
      const path = join(hostile.victim, 'stats.puffin');
      hostile.tamper((metadata) => {
        const [first] = metadata['snapshots'] as readonly { readonly 'snapshot-id': number }[];
        const old = { ...metadata, 'current-snapshot-id': first?.['snapshot-id'] ?? 0 };
        const moved = key === 'location' ? { location: hostile.victim } : { properties: { [key]: hostile.victim } };
        return { ...metadata, ...moved, statistics: statistics(old, path) };
      });
      const context = await hostile.context();
      await expect(expireSnapshots(context, { olderThanMs: always, retainLast: 1, dryRun: true })).rejects.toMatchObject(refused(path));
      await expect(expireSnapshots(context, { olderThanMs: always, retainLast: 1 })).rejects.toMatchObject(refused(path));
      expect((await context.refresh()).metadata.snapshots).toHaveLength(2);
      untouched(hostile);
    },
  );

  it.each(['/', 'location', 'write.data.path', 'write.metadata.path'])('as its %s and statistics does not get them purged', async (key) => {
    const hostile = await tampered(type);
    const path = join(hostile.victim, 'stats.puffin');
    hostile.tamper((metadata) => {
      const location = key === '/' ? '/' : hostile.victim;
      const moved = key.startsWith('write.') ? { properties: { [key]: hostile.victim } } : { location };
      return { ...metadata, ...moved, statistics: statistics(metadata, path) };
    });
    await expect(hostile.purge()).rejects.toMatchObject(refused(path));
    untouched(hostile);
    expect((await (await hostile.context()).refresh()).metadata.snapshots).toHaveLength(2);
  });

  it('as earlier metadata does not get them deleted by a commit that cleans up', async () => {
    const hostile = await tampered(type);
    const log = [{ 'timestamp-ms': 1, 'metadata-file': join(hostile.victim, 'metadata/v1.metadata.json') }];
    const properties = {
      'write.metadata.delete-after-commit.enabled': 'true',
      'write.metadata.previous-versions-max': '1',
      ...(type === 'jdbc' ? { 'write.data.path': hostile.victim } : {}),
    };
    hostile.tamper((metadata) => ({ ...metadata, properties, 'metadata-log': log }));
    const context = await hostile.context();
    await commitSnapshot(context, await context.refresh(), change({ added: [] }));
    untouched(hostile);
  });

  it('gets them deleted where the caller allows it', async () => {
    const allowed = await tampered(type, (victim) => [victim]);
    allowed.tamper((metadata) => ({ ...metadata, statistics: statistics(metadata, join(allowed.victim, 'stats.puffin')) }));
    await allowed.purge();
    expect(existsSync(join(allowed.victim, 'stats.puffin'))).toBe(false);
    expect(existsSync(join(allowed.victim, 'data/kept.parquet'))).toBe(true);
  });
});

it('a commit does not follow metadata to a directory that the row of its catalog does not name', async () => {
  const hostile = await tampered('jdbc');
  hostile.tamper((metadata) => ({ ...metadata, location: hostile.victim }));
  const context = await hostile.context();
  const wanted = commitSnapshot(context, await context.refresh(), change({ added: [] }));
  await expect(wanted).rejects.toMatchObject({ code: 'FILE_OUTSIDE_TABLE' });
  untouched(hostile);
});
