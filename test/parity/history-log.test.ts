import { readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openTable } from '../../src/index.ts';
import { sortedLines } from '../engines/oracle.ts';
import { canonicalRow } from '../engines/support/canonical-rows.ts';
import { deltaBench } from '../support/parity/delta-bench.ts';

/** Checkpoints, checksums and the cleaning of the log, as other engines find them. */

const padded = (version: number): string => String(version).padStart(20, '0');
const dayMs = 86_400_000;

describe('the log', () => {
  const bench = deltaBench({}, { spark: true });

  /** Version `n` holds the row `n`; every third version an update takes the place of an append. */
  async function grown(name: string, until: number, properties: string): Promise<void> {
    const { sql, at } = bench();
    await sql(`CREATE TABLE ${at(name)} (id INT, v STRING, p STRING) USING delta PARTITIONED BY (p) TBLPROPERTIES (${properties})`);
    for (let version = 1; version <= until; version += 1) {
      if (version % 3 === 0) await sql(`UPDATE ${at(name)} SET v = 'u${version}' WHERE id = ${version - 1}`);
      else await sql(`INSERT INTO ${at(name)} VALUES (${version}, 'v${version}', 'p${version % 2}')`);
    }
  }

  /** So that only a checkpoint can tell what they did. */
  function dropCommits(name: string, below: number): void {
    for (let version = 0; version < below; version += 1)
      rmSync(join(bench().path(name), '_delta_log', `${padded(version)}.json`), { force: true });
  }

  async function expectSparkReads(name: string): Promise<void> {
    const { oracle, session, path } = bench();
    if (oracle === undefined) return;
    const ours = (await session.read.load(path(name)).collect()).map(canonicalRow);
    expect(sortedLines(await oracle.rows('spark', path(name)))).toEqual(sortedLines(ours));
  }

  it('B26: a checkpoint is written every ten versions, and named by _last_checkpoint', async () => {
    await grown('interval', 10, "team = 'me'");
    const { log, path, another } = bench();
    expect(log('interval').filter((file) => file.includes('.checkpoint'))).toEqual([`${padded(10)}.checkpoint.parquet`]);
    const hint = JSON.parse(readFileSync(join(path('interval'), '_delta_log', '_last_checkpoint'), 'utf8')) as Readonly<
      Record<string, unknown>
    >;
    expect(hint).toMatchObject({ version: 10, size: expect.any(Number) as number, numOfAddFiles: 7 });
    await bench().agree('interval', { allowOrphans: true });
    expect(await another().read.load(path('interval')).count()).toBe(7);
  });

  it('B26: other engines read tables of which only checkpoint and later commits are left', async () => {
    await grown('checkpointed', 7, "delta.checkpointInterval = 3, 'delta.enableDeletionVectors' = 'true'");
    expect(
      bench()
        .log('checkpointed')
        .filter((file) => file.includes('.checkpoint')),
    ).toEqual([`${padded(3)}.checkpoint.parquet`, `${padded(6)}.checkpoint.parquet`]);
    const before = sortedLines((await bench().rows('checkpointed')).map(canonicalRow));
    // The commit of the checkpoint itself stays: Spark wants both.
    dropCommits('checkpointed', 6);
    const { path, another, oracle } = bench();
    expect(sortedLines((await another().read.load(path('checkpointed')).collect()).map(canonicalRow))).toEqual(before);
    for (const engine of ['delta-rs', 'duckdb', 'spark'] as const) {
      const theirs = await oracle?.rows(engine, path('checkpointed'));
      if (theirs !== undefined) expect([engine, ...sortedLines(theirs)]).toEqual([engine, ...before]);
    }
    const early = another().read.option('versionAsOf', 1).load(path('checkpointed'));
    await expect(early.count()).rejects.toMatchObject({
      errorClass: 'DELTA_VERSION_NOT_FOUND',
      message: expect.stringMatching(/^Cannot time travel Delta table to version 1\. Available versions: \[\d+, 7\]\.$/) as string,
    });
  });

  it('B26: V2 checkpoints too, and statistics as structures where the table wants them', async () => {
    const statistics = "'delta.checkpoint.writeStatsAsStruct' = 'true', 'delta.checkpoint.writeStatsAsJson' = 'false'";
    await grown('v2', 4, `delta.checkpointInterval = 4, delta.checkpointPolicy = 'v2', ${statistics}`);
    dropCommits('v2', 4);
    await bench().agree('v2', { allowOrphans: true });
    await expectSparkReads('v2');
    const read = await bench().another().read.load(bench().path('v2')).where('id > 3').explanation();
    expect(read.tables[0]).toMatchObject({ filesConsidered: 3, filesSelected: 1 });
  });

  it('B26: the checksum of a version adds up to its state', async () => {
    await grown('sums', 4, 'delta.checkpointInterval = 100');
    const { log, path, sql, at } = bench();
    expect(log('sums')).toContain(`${padded(4)}.crc`);
    const sum = JSON.parse(readFileSync(join(path('sums'), '_delta_log', `${padded(4)}.crc`), 'utf8')) as Readonly<Record<string, unknown>>;
    const [detail] = await sql(`DESCRIBE DETAIL ${at('sums')}`);
    expect(sum).toMatchObject({
      tableSizeBytes: Number(detail?.['sizeInBytes']),
      numFiles: Number(detail?.['numFiles']),
      numMetadata: 1,
      numProtocol: 1,
      protocol: { minReaderVersion: 1, minWriterVersion: 2 },
      metadata: { id: detail?.['id'], partitionColumns: ['p'] },
    });
    await bench().agree('sums', { allowOrphans: true });
    await expectSparkReads('sums');
  });

  it('B26: expired log behind a checkpoint is deleted, and nothing that is needed', async () => {
    await grown(
      'cleaned',
      8,
      "delta.checkpointInterval = 3, 'delta.logRetentionDuration' = 'interval 2 days', 'delta.deletedFileRetentionDuration' = 'interval 2 days'",
    );
    const { log, path, another } = bench();
    const table = await openTable(path('cleaned'));
    await table.checkpoint({ dryRun: false });
    expect(log('cleaned')).toContain(`${padded(0)}.json`);
    const now = Date.now();
    for (let version = 0; version <= 8; version += 1) {
      // Versions 0 to 4 are past retention; the last checkpoint among them is that of version 3.
      const at = new Date(now - (version <= 4 ? 10 - version : 0.001 * (9 - version)) * dayMs);
      utimesSync(join(path('cleaned'), '_delta_log', `${padded(version)}.json`), at, at);
    }
    await (await openTable(path('cleaned'))).checkpoint({ dryRun: false });
    expect(log('cleaned').filter((file) => /^\d+\.json$/.test(file))).toEqual(
      [3, 4, 5, 6, 7, 8].map((version) => `${padded(version)}.json`),
    );
    expect(log('cleaned')).toContain(`${padded(3)}.checkpoint.parquet`);
    // Of files that a VACUUM might take versions are read where it is said that none runs.
    const unswept = 'spark.databricks.delta.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration';
    const reader = another({ [unswept]: false });
    expect(await reader.read.load(path('cleaned')).count()).toBe(6);
    expect(await reader.read.option('versionAsOf', 3).load(path('cleaned')).count()).toBe(2);
    await expect(reader.read.option('versionAsOf', 2).load(path('cleaned')).count()).rejects.toMatchObject({
      errorClass: 'DELTA_VERSION_NOT_FOUND',
      message: 'Cannot time travel Delta table to version 2. Available versions: [3, 8].',
    });
    await bench().agree('cleaned', { allowOrphans: true });
    bench().session.conf.set(unswept, false);
    await bench().agree('cleaned', { version: 3, allowOrphans: true });
    bench().session.conf.unset(unswept);
    await expectSparkReads('cleaned');
  });

  it('B26: the log is kept where the table says so, and for readers of the feed', async () => {
    const { log, path } = bench();
    await grown(
      'kept',
      4,
      "delta.checkpointInterval = 2, 'delta.logRetentionDuration' = 'interval 1 days', 'delta.deletedFileRetentionDuration' = 'interval 1 days', 'delta.enableExpiredLogCleanup' = 'false'",
    );
    for (let version = 0; version <= 4; version += 1) {
      const old = new Date(Date.now() - (20 - version) * dayMs);
      utimesSync(join(path('kept'), '_delta_log', `${padded(version)}.json`), old, old);
    }
    await (await openTable(path('kept'))).checkpoint({ dryRun: false });
    expect(log('kept')).toContain(`${padded(0)}.json`);
    await bench().sql(`ALTER TABLE ${bench().at('kept')} SET TBLPROPERTIES ('delta.enableExpiredLogCleanup' = 'true')`);
    const table = await openTable(path('kept'));
    await table.checkpoint({ dryRun: false, keepVersionsFrom: (await table.refresh()).version });
    expect(log('kept').filter((file) => /^\d+\.json$/.test(file))).toEqual([4, 5].map((version) => `${padded(version)}.json`));
  });

  it('B26: files of compacted log by other engines do not disturb', async () => {
    const { path, session, sql, at } = bench();
    await grown('compacted', 4, 'delta.checkpointInterval = 100');
    const folder = join(path('compacted'), '_delta_log');
    const actions = [1, 2].flatMap((version) => bench().commit('compacted', version)).filter((action) => !('commitInfo' in action));
    writeFileSync(
      join(folder, `${padded(1)}.${padded(2)}.compacted.json`),
      `${actions.map((action) => JSON.stringify(action)).join('\n')}\n`,
    );
    expect(await bench().another().read.load(path('compacted')).count()).toBe(3);
    await sql(`INSERT INTO ${at('compacted')} VALUES (9, 'i', 'p1')`);
    expect(await session.read.load(path('compacted')).count()).toBe(4);
    await bench().agree('compacted', { allowOrphans: true });
  });

  it('B26: log is compacted on request, and Spark takes the file in place of its commits', async () => {
    const { path, log } = bench();
    await grown('summed', 5, 'delta.checkpointInterval = 100');
    const table = await openTable(path('summed'));
    expect(await table.operations.compactLog?.()).toEqual([{ from: 0, until: 5, written: true }]);
    expect(log('summed')).toContain(`${padded(0)}.${padded(5)}.compacted.json`);
    expect(await table.operations.compactLog?.()).toEqual([{ from: 0, until: 5, written: false }]);
    await bench().agree('summed', { allowOrphans: true });
    await expectSparkReads('summed');
  });

  it('B26: a session cleans expired log with its checkpoints', async () => {
    const { path, log, sql, at } = bench();
    await grown(
      'swept',
      5,
      "delta.checkpointInterval = 3, 'delta.logRetentionDuration' = 'interval 2 days', 'delta.deletedFileRetentionDuration' = 'interval 2 days'",
    );
    for (let version = 0; version <= 4; version += 1) {
      const old = new Date(Date.now() - (20 - version) * dayMs);
      utimesSync(join(path('swept'), '_delta_log', `${padded(version)}.json`), old, old);
    }
    await bench()
      .another()
      .sql(`INSERT INTO ${at('swept')} VALUES (9, 'i', 'p1')`);
    expect(log('swept').filter((file) => /^\d+\.json$/.test(file))).toEqual([3, 4, 5, 6].map((version) => `${padded(version)}.json`));
    await sql(`INSERT INTO ${at('swept')} VALUES (10, 'j', 'p1')`);
    expect(await bench().another().read.load(path('swept')).count()).toBe(6);
    await bench().agree('swept', { allowOrphans: true });
  });
});
