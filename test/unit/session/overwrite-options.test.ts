import { expect, it } from 'vitest';
import { temporarySession } from '../../support/temporary-session.ts';

// DeltaSuite: "append, replaceWhere + dynamic partition overwrite enabled in options", "overwriteSchema"; ImplicitMetadataOperation.
it('replaceWhere and dynamic partition overwrite contradict when both are options', async () => {
  await using opened = await temporarySession();
  const { session, directory } = opened;
  const path = `${directory}/t`;
  const rows = await session.sql("SELECT 1 AS id, 'a' AS d");
  await rows.write.format('delta').partitionBy('d').save(path);
  const both = rows.write
    .format('delta')
    .mode('overwrite')
    .option('replaceWhere', "d = 'a'")
    .option('partitionOverwriteMode', 'dynamic')
    .save(path);
  await expect(both).rejects.toMatchObject({ errorClass: 'DELTA_REPLACE_WHERE_WITH_DYNAMIC_PARTITION_OVERWRITE', sqlState: '42613' });
  session.conf.set('spark.sql.sources.partitionOverwriteMode', 'dynamic');
  await rows.write.format('delta').mode('overwrite').option('replaceWhere', "d = 'a'").save(path);
  expect(await (await session.sql(`SELECT * FROM delta.\`${path}\``)).collect()).toEqual([{ id: 1, d: 'a' }]);
});

it('overwriteSchema without partitionBy leaves a table without partitions', async () => {
  await using opened = await temporarySession();
  const { session, directory } = opened;
  const path = `${directory}/t`;
  const rows = await session.sql("SELECT 1 AS id, 'a' AS d");
  await rows.write.format('delta').partitionBy('d').save(path);
  await rows.write.format('delta').mode('overwrite').save(path);
  const partitions = async (): Promise<unknown> =>
    (await (await session.sql(`DESCRIBE DETAIL delta.\`${path}\``)).select('partitionColumns').collect())[0];
  expect(await partitions()).toEqual({ partitionColumns: ['d'] });
  await rows.write.format('delta').mode('overwrite').option('overwriteSchema', true).save(path);
  expect(await partitions()).toEqual({ partitionColumns: [] });
});

it('a generated column is no aggregate', async () => {
  await using opened = await temporarySession();
  const create = opened.session.sql('CREATE TABLE t (id BIGINT, g BIGINT GENERATED ALWAYS AS (sum(id))) USING delta');
  await expect(create).rejects.toMatchObject({ errorClass: 'DELTA_AGGREGATE_IN_GENERATED_COLUMN', sqlState: '42621' });
});
