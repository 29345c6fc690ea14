import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readAvroFile } from '../support/avro-records.ts';
import { textIn } from '../support/parity/delta-bench.ts';
import { readPuffinBlob, readPuffinFooter } from '../support/puffin/read-puffin.ts';
import { enginesMissing } from './support/engine-bench.ts';
import { type CatalogTable, fullName, icebergBench, sqliteCatalog } from './support/iceberg-bench.ts';

/*
 * Statistics that we and Spark make of one snapshot of one table: the sketches must be the same bytes, and each reads a table whose statistics
 * the other has set.
 */

interface Blob {
  readonly fields: readonly number[];
  readonly ndv: string | undefined;
  readonly bytes: string;
}

function blobsOf(file: string): readonly Blob[] {
  const bytes = readFileSync(file.replace(/^file:/, ''));
  return readPuffinFooter(bytes, file).blobs.map((blob) => ({
    fields: blob.fields,
    ndv: blob.properties['ndv'],
    bytes: Buffer.from(readPuffinBlob(bytes, blob, file)).toString('base64'),
  }));
}

const everyType = `CAST(id % 7 AS INT) AS i, id AS l, CAST(id AS FLOAT) / 3 AS f, CAST(id AS DOUBLE) / 7 AS d, CAST(id % 10 AS DECIMAL(20, 2)) / 3 AS c,
  id % 2 = 0 AS b, DATE '2020-01-01' + CAST(id % 400 AS INT) AS day, timestamp_micros(id * 1000003) AS t,
  CAST(timestamp_micros(id * 977) AS TIMESTAMP_NTZ) AS n, concat('ü', repeat('x', CAST(id % 50 AS INT)), id) AS s, CAST(concat('b', id % 99) AS BINARY) AS y,
  CASE WHEN id % 3 = 0 THEN NULL ELSE id % 5 END AS o, CAST(NULL AS STRING) AS e, id * 0 AS one, CAST('' AS STRING) AS z`;

describe.skipIf(enginesMissing)('statistics of Iceberg tables', () => {
  const bench = icebergBench((directory) => [sqliteCatalog(directory)]);

  const statistics = (table: CatalogTable): readonly string[] =>
    readdirSync(join(table.path, 'metadata'))
      .filter((name) => name.endsWith('.stats'))
      .map((name) => join(table.path, 'metadata', name));

  it.each([10, 4_096, 60_000])('are the sketches that Spark makes of %i rows of every type', async (count) => {
    const { session, oracle } = bench();
    const here = bench().table('ours', `measured_${count}`);
    await session.sql(`CREATE TABLE ${fullName(here)} USING iceberg AS SELECT ${everyType} FROM range(0, ${count})`);
    const [ours] = await (await session.sql(`CALL lake.system.compute_table_stats('${here.name}')`)).collect();
    const own = blobsOf(textIn(ours, 'statistics_file'));
    await oracle.sql(`SELECT count(*) FROM ${fullName(here)}`);
    const known = statistics(here);
    await oracle.sql(`CALL lake.system.compute_table_stats('${here.name}')`);
    const [theirs = ''] = statistics(here).filter((file) => !known.includes(file));
    const other = blobsOf(theirs);
    for (const [index, blob] of own.entries()) expect([index, blob]).toEqual([index, other[index]]);
    expect(own).toHaveLength(other.length);
    expect(await bench().ours(`SELECT count(*) AS n FROM ${fullName(here)}`)).toHaveLength(1);
    await bench().expectSound(here.path);
  });

  const newestOf = (path: string): string => {
    const names = readdirSync(join(path, 'metadata')).filter((name) => name.endsWith('.metadata.json'));
    return join(path, 'metadata', names.toSorted().at(-1) ?? '');
  };
  const partitionStatistics = (path: string, format: string): readonly string[] =>
    readdirSync(join(path, 'metadata'))
      .filter((name) => name.startsWith('partition-stats-') && name.endsWith(`.${format}`))
      .map((name) => join(path, 'metadata', name));

  it('of partitions are the rows that Spark writes of the same snapshot', async () => {
    const { session, oracle } = bench();
    const here = bench().table('ours', 'parted');
    await session.sql(
      `CREATE TABLE ${fullName(here)} (id INT, s STRING, day DATE, c DECIMAL(9, 2)) USING iceberg
       PARTITIONED BY (bucket(3, id), months(day), s, c) TBLPROPERTIES ('format-version' = '3', 'write.delete.mode' = 'merge-on-read')`,
    );
    await session.sql(`INSERT INTO ${fullName(here)} SELECT CAST(id AS INT), CASE WHEN id % 3 > 0 THEN concat('ü', id % 3) END,
      DATE '1969-11-15' + CAST(id % 60 AS INT), id % 2 - 0.5 FROM range(40)`);
    await session.sql(`DELETE FROM ${fullName(here)} WHERE id IN (3, 5, 8)`);
    // Another name for the same snapshot, from before it has statistics.
    await oracle.sql(`CALL lake.system.register_table('theirs.parted', '${newestOf(here.path)}')`);
    const [ours] = await (await session.sql(`CALL lake.system.compute_partition_stats('${here.name}')`)).collect();
    const own = textIn(ours, 'partition_statistics_file');
    await oracle.sql("CALL lake.system.compute_partition_stats('theirs.parted')");
    const [other = ''] = partitionStatistics(here.path, 'parquet').filter((file) => file !== own);
    expect(await bench().spark(`SELECT * FROM parquet.\`${own}\``)).toEqual(await bench().spark(`SELECT * FROM parquet.\`${other}\``));
    await bench().expectSound(here.path);
  });

  it.each(['parquet', 'avro'])('of partitions are what Spark goes on from, in %s', async (format) => {
    const { session, oracle } = bench();
    const here = bench().table('ours', `continued_${format}`);
    await session.sql(
      `CREATE TABLE ${fullName(here)} (id INT, s STRING) USING iceberg PARTITIONED BY (s) TBLPROPERTIES ('write.format.default' = '${format}')`,
    );
    await session.sql(`INSERT INTO ${fullName(here)} VALUES (1, 'a'), (2, 'b')`);
    await session.sql(`CALL lake.system.compute_partition_stats('${here.name}')`);
    const known = partitionStatistics(here.path, format);
    await session.sql(`DELETE FROM ${fullName(here)} WHERE s = 'b'`);
    await session.sql(`INSERT INTO ${fullName(here)} VALUES (3, 'a')`);
    await oracle.sql(`CALL lake.system.compute_partition_stats('${here.name}')`);
    const [made = ''] = partitionStatistics(here.path, format).filter((file) => !known.includes(file));
    // The newest manifests tell nothing of the partition that is empty now: only who has read our file knows of it.
    const rows =
      format === 'avro'
        ? [...readAvroFile(readFileSync(made), { name: made }).records()].map((row) => [row['partition'], Number(row['data_record_count'])])
        : (await session.read.parquet(made).collect()).map((row) => [
            { ...(row['partition'] as object) },
            Number(row['data_record_count']),
          ]);
    expect(rows).toEqual([
      [{ s: 'a' }, 2],
      [{ s: 'b' }, 0],
    ]);
  });
});
