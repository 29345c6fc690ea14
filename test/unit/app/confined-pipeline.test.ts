import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LazyEngine } from '../../../src/app/lazy-engine.ts';
import { openTables } from '../../../src/app/open-tables.ts';
import { rowLines } from '../../../src/app/read-lines.ts';
import { createSession } from '../../../src/app/session.ts';
import { inertFailpoint } from '../../../src/base/failpoint.ts';
import { RandomIdSource } from '../../../src/base/ids.ts';
import { SystemClock } from '../../../src/base/system-clock.ts';
import { SystemRandom } from '../../../src/base/system-random.ts';
import { loadConfig } from '../../../src/config/load-config.ts';
import { IcebergTable } from '../../../src/iceberg/iceberg-table.ts';
import { ParquetFileRewriter } from '../../../src/maintenance/file-rewriter.ts';
import { objectStoreOpener } from '../../../src/storage/open-object-store.ts';
import { temporarySession } from '../../support/temporary-session.ts';

const clock = new SystemClock();
const random = new SystemRandom();
const ids = new RandomIdSource(random);
const openStore = objectStoreOpener({ clock, ids });

/** The rows of the pipeline's only table, as JSON, as a feed or maintenance would read them. */
async function rowsOf(yaml: string): Promise<readonly string[]> {
  const { config } = loadConfig({ files: ['/w/t.yaml'], env: {}, workingDir: '/w', readText: () => yaml });
  const engine = new LazyEngine({ memoryLimitBytes: 2 ** 28, threads: 1, temporaryDirectory: undefined, ids });
  const open = (): ReturnType<LazyEngine['open']> => engine.open();
  const rewriter = new ParquetFileRewriter({ openStore });
  const tables = openTables({ config, openStore, clock, random, ids, failpoint: inertFailpoint, engine: open, rewriter });
  try {
    const table = await tables.catalog.load('t');
    if (!(table instanceof IcebergTable)) throw new Error('not an Iceberg table');
    const lines: string[] = [];
    for await (const line of rowLines({ table, engine: await open() }, { canonical: false })) lines.push(line);
    return lines;
  } finally {
    await tables.close();
    await engine.close();
  }
}

describe.each(['path', 'catalog'] as const)('an Iceberg table of the pipeline by its %s', (by) => {
  it.each(['location', 'write.data.path'])(
    'is not read where its metadata alone leads (%s), but where the configuration allows it',
    async (key) => {
      await using lake = await temporarySession();
      const warehouse = join(lake.directory, 'lake');
      const table = join(warehouse, 'db', 't');
      const elsewhere = join(lake.directory, 'elsewhere');
      const session = (): ReturnType<typeof createSession> =>
        createSession({ config: { 'spark.sql.catalog.lake.type': 'hadoop', 'spark.sql.catalog.lake.warehouse': warehouse } });
      const writer = session();
      await writer.sql('CREATE TABLE lake.db.t (id BIGINT) USING iceberg');
      await writer.stop();
      const folder = join(table, 'metadata');
      const newest = join(folder, readdirSync(folder).find((name) => name.endsWith('.metadata.json')) ?? '');
      const metadata = JSON.parse(readFileSync(newest, 'utf8')) as { readonly properties: object };
      const named = key === 'location' ? { location: elsewhere } : { properties: { ...metadata.properties, [key]: elsewhere } };
      writeFileSync(newest, JSON.stringify({ ...metadata, ...named }));
      const again = session();
      await again.sql('INSERT INTO lake.db.t VALUES (666)');
      await again.stop();
      const place = by === 'path' ? `path: ${table}` : 'catalog: lake, identifier: db.t';
      const settings = `
pipeline: p
catalogs: [{ name: lake, type: hadoop, warehouse: ${warehouse} }]
tables: [{ name: t, format: iceberg, ${place}, columns: [{ name: id, type: long }] }]
`;
      await expect(rowsOf(settings)).rejects.toMatchObject({ code: 'FILE_OUTSIDE_TABLE' });
      expect(await rowsOf(`${settings}maintenance: { allowedLocations: [${elsewhere}] }\n`)).toEqual(['{"id":666}']);
    },
  );
});
