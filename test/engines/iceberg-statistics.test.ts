import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
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
});
