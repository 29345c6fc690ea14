import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Row } from '../../src/index.ts';
import { type CanonicalRow, sortedLines } from '../engines/oracle.ts';
import { canonicalRow } from '../engines/support/canonical-rows.ts';
import { deltaBench } from '../support/parity/delta-bench.ts';
import { unpackTar } from '../support/unpack-tar.ts';

/** Tables that Spark, delta-rs and the suites of Delta itself wrote, one for each table feature, and features nobody knows. */

interface Expectation {
  readonly latestVersion: number;
  /** By version. */
  readonly rows: Readonly<Record<string, readonly CanonicalRow[]>>;
}

interface GoldenExpectation {
  readonly versions: readonly { readonly version: number; readonly rowCount: number; readonly rows?: readonly CanonicalRow[] }[];
}

describe('table features', () => {
  const bench = deltaBench();

  beforeAll(() => {
    for (const pack of ['fixtures-delta', 'golden-delta']) {
      const url = new URL(`../golden/packs/${pack}.tar.gz`, import.meta.url);
      mkdirSync(bench().path(pack));
      unpackTar(url, bench().path(pack));
    }
  });

  function expectation(directory: string): unknown {
    return JSON.parse(readFileSync(join(bench().path(directory), 'expect.json'), 'utf8'));
  }

  async function rowsOf(directory: string, version: number): Promise<readonly Row[]> {
    return bench().session.read.format('delta').option('versionAsOf', version).load(bench().path(directory)).collect();
  }

  it.each([
    ['deletionVectors', 'deletion-vectors'],
    ['columnMapping', 'column-mapping-name'],
    ['v2Checkpoint', 'checkpoint-v2-json'],
    ['typeWidening', 'type-widening'],
    ['rowTracking', 'row-tracking'],
    ['inCommitTimestamp', 'in-commit-timestamps'],
    ['clustering', 'liquid-clustering'],
    ['timestampNtz', 'primitives'],
    ['changeDataFeed', 'cdf-sequence'],
    ['checkConstraints, generatedColumns, allowColumnDefaults', 'constraints'],
  ])('B22: %s: every version of a table by Spark', async (_, name) => {
    const { latestVersion, rows } = expectation(`fixtures-delta/delta/${name}`) as Expectation;
    for (const [version, expected] of Object.entries(rows)) {
      const read = await rowsOf(`fixtures-delta/delta/${name}/table`, Number(version));
      expect([version, ...sortedLines(read.map(canonicalRow))]).toEqual([version, ...sortedLines(expected)]);
    }
    expect(Object.keys(rows)).toContain(String(latestVersion));
  });

  it.each([
    ['deletionVectors with columnMapping', 'golden-dv-with-columnmapping'],
    ['columnMapping by id', 'kernel-partition_cm__id'],
    ['typeWidening-preview', 'kernel-type-widening'],
    ['vacuumProtocolCheck', 'golden-basic-with-vacuum-protocol-check-feature'],
    ['v2Checkpoint with sidecars', 'kernel-v2-checkpoints-json-with-sidecars'],
    ['v2Checkpoint in Parquet', 'kernel-v2-checkpoints-parquet-with-last-checkpoint'],
    ['identityColumns', 'rs-checkpoint-v2-table'],
    ['variantType-preview', 'rs-spark-variant-checkpoint'],
    ['writer features without a name here', 'rs-table_with_liquid_clustering'],
  ])('B22: %s: tables of other suites', async (_, name) => {
    const { versions } = expectation(`golden-delta/${name}`) as GoldenExpectation;
    for (const { version, rowCount, rows } of versions) {
      const read = await rowsOf(`golden-delta/${name}/table`, version);
      expect([version, read.length]).toEqual([version, rowCount]);
      if (rows !== undefined) expect(sortedLines(read.map(canonicalRow))).toEqual(sortedLines(rows));
    }
  });

  /** A table whose newest version asks for a protocol. */
  async function tableWith(name: string, protocol: Readonly<Record<string, unknown>>): Promise<string> {
    const { sql, at, path } = bench();
    await sql(`CREATE TABLE ${at(name)} (id INT) USING delta`);
    await sql(`INSERT INTO ${at(name)} VALUES (1)`);
    writeFileSync(join(path(name), '_delta_log', '00000000000000000002.json'), `${JSON.stringify({ protocol })}\n`);
    return at(name);
  }

  it('B22: an unknown feature of readers is refused by its name, for every use of the table', async () => {
    const features = { readerFeatures: ['deletionVectors', 'timeTurner'], writerFeatures: ['deletionVectors', 'timeTurner'] };
    const table = await tableWith('unread', { minReaderVersion: 3, minWriterVersion: 7, ...features });
    const refused = {
      errorClass: 'DELTA_UNSUPPORTED_FEATURES_FOR_READ',
      sqlState: '56038',
      kind: 'unsupported',
      message: expect.stringContaining('timeTurner') as string,
    };
    const { sql, session, path, another } = bench();
    const newcomer = another();
    for (const by of [session, newcomer]) {
      await expect(by.read.format('delta').load(path('unread')).collect()).rejects.toMatchObject(refused);
    }
    await expect(sql(`INSERT INTO ${table} VALUES (2)`)).rejects.toMatchObject({
      message: expect.stringContaining('timeTurner') as string,
    });
    await expect(sql(`DELETE FROM ${table}`)).rejects.toMatchObject({ message: expect.stringContaining('timeTurner') as string });
    await expect(sql(`SELECT * FROM ${table}`)).rejects.not.toMatchObject({
      message: expect.stringContaining('deletionVectors') as string,
    });
  });

  it('B22: an unknown feature of writers is read, and refused by its name when something is written', async () => {
    const table = await tableWith('unwritten', { minReaderVersion: 1, minWriterVersion: 7, writerFeatures: ['appendOnly', 'timeTurner'] });
    const { sql } = bench();
    expect(await sql(`SELECT id FROM ${table}`)).toEqual([{ id: 1 }]);
    const refused = {
      errorClass: 'DELTA_UNSUPPORTED_FEATURES_FOR_WRITE',
      sqlState: '56038',
      message: expect.stringContaining('timeTurner') as string,
    };
    for (const statement of [
      `INSERT INTO ${table} VALUES (2)`,
      `UPDATE ${table} SET id = 2`,
      `DELETE FROM ${table}`,
      `MERGE INTO ${table} t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN DELETE`,
      `OPTIMIZE ${table}`,
      `ALTER TABLE ${table} ADD COLUMN x INT`,
      `RESTORE TABLE ${table} TO VERSION AS OF 1`,
    ]) {
      await expect(sql(statement).then(() => `${statement} was accepted`)).rejects.toMatchObject(refused);
    }
  });

  it('B22: protocol versions from the future are refused, and features of today that are not read are named', async () => {
    const { sql, session, path } = bench();
    const reader = await tableWith('future', { minReaderVersion: 4, minWriterVersion: 8 });
    await expect(sql(`SELECT * FROM ${reader}`)).rejects.toMatchObject({ errorClass: 'DELTA_INVALID_PROTOCOL_VERSION', sqlState: 'KD004' });
    const load = (name: string): Promise<unknown> => session.read.load(path(`golden-delta/${name}/table`)).collect();
    await expect(load('rs-simple_table_features')).rejects.toMatchObject({ errorClass: 'DELTA_INVALID_PROTOCOL_VERSION' });
    await expect(load('kernel-table-with-geo')).rejects.toMatchObject({
      errorClass: 'DELTA_UNSUPPORTED_FEATURES_FOR_READ',
      message: expect.stringContaining('geospatial') as string,
    });
    for (const feature of ['catalogManaged', 'geospatial', 'icebergCompatV3']) {
      const writerOnly = feature.startsWith('iceberg');
      const name = `asked-${feature}`;
      const table = await tableWith(name, {
        minReaderVersion: writerOnly ? 1 : 3,
        minWriterVersion: 7,
        ...(writerOnly ? {} : { readerFeatures: [feature] }),
        writerFeatures: [feature],
      });
      const use = writerOnly ? `INSERT INTO ${table} VALUES (2)` : `SELECT * FROM ${table}`;
      await expect(sql(use)).rejects.toMatchObject({ kind: 'unsupported', message: expect.stringContaining(feature) as string });
    }
  });
});
