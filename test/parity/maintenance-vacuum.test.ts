import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DeltaTable, type Row } from '../../src/index.ts';
import { deltaBench } from '../support/parity/delta-bench.ts';
import { refusalOf } from '../support/parity/refusals.ts';

/** Files that no version within the retention needs, and how they go. */

const retentionCheck = 'spark.databricks.delta.retentionDurationCheck.enabled';
const hourMs = 3_600_000;
const sevenDaysMs = 168 * hourMs;

describe('VACUUM', () => {
  const bench = deltaBench();
  const unchecked = () => bench().another({ [retentionCheck]: false });

  it('B12: files that no version refers to go after seven days; younger ones, hidden ones and those of versions stay', async () => {
    await fill('plain');
    stray('plain', 'old.parquet', 169);
    stray('plain', 'young.parquet', 167);
    stray('plain', '_hidden.parquet', 1000);
    expect(await bench().sql(`VACUUM ${bench().at('plain')}`)).toEqual([{ path: `file:${bench().path('plain')}` }]);
    expect(strays('plain')).toEqual(['_hidden.parquet', 'young.parquet']);
    expect(await bench().rows('plain')).toHaveLength(15);
    expect(await bench().session.read.format('delta').option('versionAsOf', 1).load(bench().path('plain')).count()).toBe(20);
    await bench().agree('plain', { allowOrphans: true });
  });

  it('P10: what a reader noted beside the table needs stays, whatever the retention', async () => {
    await fill('noted');
    const session = unchecked();
    const [detail = {}] = await bench().sql(`DESCRIBE DETAIL ${bench().at('noted')}`);
    const folder = join(bench().path('noted'), '_tidewater', 'readers');
    mkdirSync(folder, { recursive: true });
    const note = join(folder, 'shop.noted.json');
    const readers = [{ by: 'shop/noted/cdf.noted', fromVersion: 1 }];
    writeFileSync(note, JSON.stringify({ tableId: detail['id'], readers }));
    const vacuum = async () => (await session.sql(`VACUUM ${bench().at('noted')} RETAIN 0 HOURS`)).collect();
    const oldRows = () => session.read.format('delta').option('versionAsOf', 1).load(bench().path('noted')).collect();
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await vacuum();
    expect(await oldRows()).toHaveLength(20);
    expect(existsSync(note)).toBe(true);
    rmSync(note);
    await vacuum();
    await expect(oldRows()).rejects.toThrow();
    expect(await bench().rows('noted')).toHaveLength(15);
    await bench().agree('noted', { allowOrphans: true });
  });

  it('B12: RETAIN n HOURS decides which files are old, SQL and DeltaTable', async () => {
    for (const [name, vacuum] of [
      ['retain-sql', (at: string, hours: number) => bench().sql(`VACUUM ${at} RETAIN ${hours} HOURS`)],
      ['retain', async (_at: string, hours: number) => (await (await tableAt('retain')).vacuum(hours)).collect()],
    ] as const) {
      await fill(name);
      stray(name, 'old.parquet', 200);
      stray(name, 'older.parquet', 300);
      expect(await vacuum(bench().at(name), 240)).toEqual([{ path: `file:${bench().path(name)}` }]);
      expect(strays(name)).toEqual(['old.parquet']);
      await vacuum(bench().at(name), 168);
      expect(strays(name)).toEqual([]);
      await bench().agree(name);
    }
  });

  it('B12: a run is two versions of the table, START and END', async () => {
    await fill('logged');
    stray('logged', 'old.parquet', 300);
    await bench().sql(`VACUUM ${bench().at('logged')} RETAIN 200 HOURS`);
    const [end = {}, start = {}] = await bench().sql(`DESCRIBE HISTORY ${bench().at('logged')} LIMIT 2`);
    expect(start).toMatchObject({
      version: 3n,
      operation: 'VACUUM START',
      readVersion: 2n,
      isolationLevel: 'SnapshotIsolation',
      isBlindAppend: true,
    });
    expect(textsOf(start, 'operationParameters')).toEqual({
      retentionCheckEnabled: 'true',
      defaultRetentionMillis: String(sevenDaysMs),
      specifiedRetentionMillis: String(200 * hourMs),
    });
    expect(textsOf(start, 'operationMetrics')).toEqual({ numFilesToDelete: '1', sizeOfDataToDelete: '5' });
    expect(end).toMatchObject({
      version: 4n,
      operation: 'VACUUM END',
      readVersion: 3n,
      isolationLevel: 'SnapshotIsolation',
      isBlindAppend: true,
    });
    expect(textsOf(end, 'operationParameters')).toEqual({ status: 'COMPLETED' });
    expect(textsOf(end, 'operationMetrics')).toMatchObject({ numDeletedFiles: '1' });
    await bench().sql(`VACUUM ${bench().at('logged')}`);
    const [, second = {}] = await bench().sql(`DESCRIBE HISTORY ${bench().at('logged')} LIMIT 2`);
    expect(Object.keys(textsOf(second, 'operationParameters')).sort()).toEqual(['defaultRetentionMillis', 'retentionCheckEnabled']);
    await bench().agree('logged');
  });

  it('B12: DRY RUN names the files, deletes nothing and makes no version, SQL and DeltaTable', async () => {
    await fill('dry');
    stray('dry', 'old.parquet', 169);
    stray('dry', 'young.parquet', 1);
    const expected = [{ path: `file:${bench().path('dry')}/old.parquet` }];
    expect(await bench().sql(`VACUUM ${bench().at('dry')} DRY RUN`)).toEqual(expected);
    expect(await bench().sql(`VACUUM ${bench().at('dry')} RETAIN 168 HOURS DRY RUN`)).toEqual(expected);
    expect(await (await (await tableAt('dry')).vacuum(undefined, { dryRun: true })).collect()).toEqual(expected);
    expect(strays('dry')).toEqual(['old.parquet', 'young.parquet']);
    expect(await bench().version('dry')).toBe(2);
  });

  it('B12: fewer hours than the retention of the table are refused, unless the check is off', async () => {
    await fill('checked');
    const removed = dataFiles('checked');
    const { at, path } = bench();
    for (const hours of [0, 1, 167]) {
      const refusal = await refusalOf(bench().sql(`VACUUM ${at('checked')} RETAIN ${hours} HOURS`));
      expect(refusal).toMatchObject({ errorClass: 'DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT', sqlState: '22003' });
      expect(refusal.message).toBe(
        [
          'The specified VACUUM retention period is too low and may corrupt this Delta table if any writes are in progress.',
          '',
          'If no operations (insert, upsert, delete, optimize) are running, you can disable this safety check by setting:',
          'delta.retentionDurationCheck.enabled = false',
          '',
          'Otherwise, use a retention period of at least 168 hours.',
        ].join('\n'),
      );
    }
    expect(await refusalOf(async () => (await tableAt('checked')).vacuum(0, { dryRun: true }))).toMatchObject({
      errorClass: 'DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT',
    });
    expect(await refusalOf(async () => (await tableAt('checked')).vacuum(-1))).toMatchObject({
      errorClass: 'DELTA_VACUUM_RETENTION_PERIOD_NEGATIVE',
      sqlState: '22003',
    });
    expect(dataFiles('checked')).toEqual(removed);
    expect(await bench().version('checked')).toBe(2);

    const session = unchecked();
    await session.sql(`VACUUM ${at('checked')} RETAIN 0 HOURS`);
    expect(dataFiles('checked')).toHaveLength(2);
    expect(await bench().rows('checked')).toHaveLength(15);
    expect(textsOf((await bench().sql(`DESCRIBE HISTORY ${at('checked')} LIMIT 2`))[1] ?? {}, 'operationParameters')).toEqual({
      retentionCheckEnabled: 'false',
      defaultRetentionMillis: String(sevenDaysMs),
      specifiedRetentionMillis: '0',
    });
    await bench().agree('checked');
    await expect(session.read.format('delta').option('versionAsOf', 1).load(path('checked')).collect()).rejects.toMatchObject({
      code: 'ENGINE_FILE_MISSING',
      kind: 'not-found',
    });
  });

  it('B12: the property of the table is the default and the least', async () => {
    await fill('property', { 'delta.deletedFileRetentionDuration': 'interval 1 hour' });
    stray('property', 'old.parquet', 2);
    stray('property', 'young.parquet', 0.5);
    await bench().sql(`VACUUM ${bench().at('property')} RETAIN 1 HOURS`);
    expect(strays('property')).toEqual(['young.parquet']);
    expect(await refusalOf(bench().sql(`VACUUM ${bench().at('property')} RETAIN 0 HOURS`))).toMatchObject({
      errorClass: 'DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT',
      parameters: { configuredRetentionHours: '1' },
    });
  });

  it('B12: LITE finds the same files by the log alone, and leaves what the log never knew', async () => {
    await fill('lite');
    const session = unchecked();
    stray('lite', 'unknown.parquet', 1000);
    const before = dataFiles('lite').length;
    const [first] = await (await session.sql(`VACUUM ${bench().at('lite')} LITE RETAIN 0 HOURS DRY RUN`)).collect();
    expect(first?.['path']).toMatch(/^file:.*\.parquet$/);
    expect(await (await session.sql(`VACUUM ${bench().at('lite')} LITE RETAIN 0 HOURS`)).collect()).toEqual([
      { path: `file:${bench().path('lite')}` },
    ]);
    expect(before).toBe(3);
    expect(dataFiles('lite')).toHaveLength(2);
    expect(strays('lite')).toEqual(['unknown.parquet']);
    await session.sql(`VACUUM ${bench().at('lite')} FULL RETAIN 0 HOURS`);
    expect(strays('lite')).toEqual([]);
    await bench().agree('lite');
  });

  it('B12: deletion vectors and recorded changes go with their files, partitions without files with their directory', async () => {
    const { session, path, at, sql } = bench();
    const properties = { 'delta.enableDeletionVectors': 'true', 'delta.enableChangeDataFeed': 'true' };
    await session
      .range(10)
      .selectExpr('id', 'id % 2 AS p')
      .write.format('delta')
      .options(properties)
      .partitionBy('p')
      .save(path('vectors'));
    await sql(`DELETE FROM ${at('vectors')} WHERE id = 2`);
    await sql(`UPDATE ${at('vectors')} SET id = id + 100 WHERE id = 4`);
    await sql(`DELETE FROM ${at('vectors')} WHERE p = 1`);
    const before = bench()
      .commit('vectors', 2)
      .filter(({ cdc }) => cdc !== undefined);
    expect(before.length).toBeGreaterThan(0);
    await unchecked().sql(`VACUUM ${at('vectors')} RETAIN 0 HOURS`);
    const left = readdirSync(path('vectors'), { recursive: true }).map(String);
    expect(left.filter((name) => name.startsWith('_change_data') && name.endsWith('.parquet'))).toEqual([]);
    expect(left.filter((name) => name.endsWith('.bin'))).toHaveLength(1);
    expect(left.filter((name) => name.startsWith('p=1/') && name.endsWith('.parquet'))).toEqual([]);
    expect((await bench().rows('vectors')).map(({ id }) => id)).toEqual([0n, 6n, 8n, 104n]);
    await bench().agree('vectors');
  });

  it('B12: by name and by path text; what is no table is refused', async () => {
    await bench().session.range(3).write.saveAsTable('vacuumed');
    expect(await bench().sql('VACUUM vacuumed')).toEqual([{ path: `file:${bench().path('warehouse/vacuumed')}` }]);
    expect(await bench().sql(`VACUUM '${bench().path('warehouse/vacuumed')}' DRY RUN`)).toEqual([]);
    expect(await refusalOf(bench().sql('VACUUM no_such_table'))).toMatchObject({
      errorClass: 'TABLE_OR_VIEW_NOT_FOUND',
      sqlState: '42P01',
    });
    await refusalOf(bench().sql(`VACUUM '${bench().path('nothing')}'`));
    expect(existsSync(bench().path('nothing'))).toBe(false);
  });

  /** Ten rows, ten more, five of them deleted by rewriting a file. */
  async function fill(name: string, properties: Readonly<Record<string, string>> = {}): Promise<void> {
    const { session, sql, at, path } = bench();
    await session.range(10).write.format('delta').options(properties).save(path(name));
    await session.range(10, 20).write.format('delta').mode('append').save(path(name));
    await sql(`DELETE FROM ${at(name)} WHERE id % 2 = 0 AND id < 10`);
  }

  /** A file that no version refers to, last written some hours ago. */
  function stray(name: string, file: string, ageHours: number): void {
    const path = join(bench().path(name), file);
    writeFileSync(path, 'stray');
    const time = new Date(Date.now() - ageHours * hourMs);
    utimesSync(path, time, time);
  }

  function strays(name: string): readonly string[] {
    return readdirSync(bench().path(name))
      .filter((file) => /^_?[a-z]+\.parquet$/.test(file))
      .sort();
  }

  function dataFiles(name: string): readonly string[] {
    return readdirSync(bench().path(name))
      .filter((file) => file.startsWith('part-'))
      .sort();
  }

  function tableAt(name: string): Promise<DeltaTable> {
    return DeltaTable.forPath(bench().session, bench().path(name));
  }
});

function textsOf(entry: Row, column: 'operationParameters' | 'operationMetrics'): Readonly<Record<string, string>> {
  return Object.fromEntries(entry[column] as ReadonlyMap<string, string>);
}
