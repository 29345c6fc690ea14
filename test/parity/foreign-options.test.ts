import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { icebergBench } from '../support/iceberg/parity-bench.ts';
import { refusalOf } from '../support/parity/refusals.ts';
import { removeDirectory, temporaryDirectory } from '../support/servers.ts';

/** Options that only tables of the other format have, and rows that lack what a table asks of them. */
describe('options and columns that a table does not take', () => {
  const bench = icebergBench();
  const directory = temporaryDirectory('foreign-options');
  afterAll(() => {
    removeDirectory(directory);
  });

  it('options of the other format are refused where they would change something', async () => {
    const { sql, session } = bench();
    await sql('CREATE TABLE db.foreign_ice (id INT) USING iceberg');
    await sql('INSERT INTO db.foreign_ice VALUES (1)');
    const rows = session.createDataFrame([{ id: 2 }], 'id INT');
    for (const option of ['overwriteSchema', 'optimizeWrite', 'autoCompact']) {
      const written = rows.write.format('iceberg').mode('append').option(option, 'true').save('db.foreign_ice');
      expect(await refusalOf(written), option).toMatchObject({ errorClass: 'DELTA_ILLEGAL_OPTION', parameters: { name: option } });
    }
    const path = join(directory, 'foreign');
    await sql(`CREATE TABLE delta.\`${path}\` (id INT, p INT) USING delta PARTITIONED BY (p)`);
    const both = session.createDataFrame([{ id: 2, p: 2 }], 'id INT, p INT');
    for (const option of ['write-format', 'target-file-size-bytes', 'snapshot-property.a']) {
      const written = both.write.format('delta').mode('append').option(option, '1000').save(path);
      expect(await refusalOf(written), option).toMatchObject({ errorClass: 'DELTA_ILLEGAL_OPTION', parameters: { name: option } });
    }
    const read = session.read.format('delta').option('start-snapshot-id', '1').load(path);
    expect(await refusalOf(read.collect())).toMatchObject({ errorClass: 'UNSUPPORTED_FEATURE' });
  });

  it('rows that are appended to a partitioned Delta table have its partition columns', async () => {
    const { sql, session } = bench();
    const path = join(directory, 'lacking');
    await sql(`CREATE TABLE delta.\`${path}\` (id INT, p INT) USING delta PARTITIONED BY (p)`);
    const written = session
      .createDataFrame([{ id: 1 }], 'id INT')
      .write.format('delta')
      .mode('append')
      .save(path);
    expect(await refusalOf(written)).toMatchObject({ errorClass: 'DELTA_MISSING_PARTITION_COLUMN' });
    expect(await sql(`SELECT * FROM delta.\`${path}\``)).toEqual([]);
  });

  it('the changes of an Iceberg table are a table beside it', async () => {
    const { sql } = bench();
    await sql('CREATE TABLE db.changing (id INT) USING iceberg');
    await sql('INSERT INTO db.changing VALUES (1)');
    await sql('DELETE FROM db.changing WHERE id = 1');
    expect(await sql('SELECT id, _change_type, _change_ordinal FROM db.changing.changes ORDER BY _change_ordinal')).toEqual([
      { id: 1, _change_type: 'INSERT', _change_ordinal: 0 },
      { id: 1, _change_type: 'DELETE', _change_ordinal: 1 },
    ]);
  });
});
