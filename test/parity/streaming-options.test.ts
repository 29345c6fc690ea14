import { describe, expect, it } from 'vitest';
import type { Row, TriggerOptions } from '../../src/index.ts';
import { deltaBench } from '../support/parity/delta-bench.ts';

/**
 * Options of streams. What Delta and Iceberg do: `DeltaSourceSuite` (read options, maxFilesPerTrigger with Trigger.Once), `DeltaSinkSuite` and
 * `DeltaSinkImplicitCastSuite`, `TestStructuredStreamingRead3`.
 */
describe('options of streams', () => {
  const bench = deltaBench();

  /** Rows by batch of what there is now. */
  async function batches(
    name: string,
    options: Readonly<Record<string, string>>,
    trigger: TriggerOptions = { availableNow: true },
  ): Promise<readonly (readonly Row[])[]> {
    const found: (readonly Row[])[] = [];
    const query = await bench()
      .session.readStream.format('delta')
      .options(options)
      .load(bench().path(name))
      .writeStream.foreachBatch(async (batch) => {
        found.push(await batch.collect());
      })
      .trigger(trigger)
      .start();
    await query.awaitTermination();
    return found;
  }

  async function steps(name: string, ...statements: readonly string[]): Promise<void> {
    for (const statement of statements) await bench().sql(statement.replaceAll('{t}', bench().at(name)));
  }

  it('skipChangeCommits wins over ignoreChanges and ignoreDeletes', async () => {
    const plain = "TBLPROPERTIES ('delta.enableDeletionVectors' = 'false')";
    await steps(
      'skips',
      `CREATE TABLE {t} (id INT) USING delta ${plain}`,
      'INSERT INTO {t} SELECT * FROM VALUES (1), (2)',
      'UPDATE {t} SET id = 20 WHERE id = 2',
      'INSERT INTO {t} VALUES (3)',
    );
    const both = { startingVersion: '0', skipChangeCommits: 'true', ignoreChanges: 'true', ignoreDeletes: 'true' };
    expect((await batches('skips', both)).flat().map(({ id }) => id)).toEqual([1, 2, 3]);
    const again = { startingVersion: '0', ignoreFileDeletion: 'true' };
    expect((await batches('skips', again)).flat().map(({ id }) => id)).toContain(20);
  });

  it('a trigger of once takes everything in one batch, whatever the limits', async () => {
    await steps('once', 'CREATE TABLE {t} (id INT) USING delta', ...[1, 2, 3].map((id) => `INSERT INTO {t} VALUES (${id})`));
    const limited = { startingVersion: '0', maxFilesPerTrigger: '1' };
    expect((await batches('once', limited, { once: true })).map((rows) => rows.length)).toEqual([3]);
    expect((await batches('once', limited)).map((rows) => rows.length)).toEqual([1, 1, 1]);
  });

  type Writer = ReturnType<typeof writerOf>;

  function writerOf(source: string, checkpoint: string) {
    const frame = bench().session.readStream.format('delta').load(bench().path(source));
    return frame.writeStream.option('checkpointLocation', bench().path(checkpoint)).trigger({ availableNow: true });
  }

  async function into(writer: Writer, sink: string): Promise<void> {
    await (await writer.start(bench().path(sink))).awaitTermination();
  }

  it('the sink casts wider numbers to what its table has, and refuses those that do not fit', async () => {
    await steps('wide', 'CREATE TABLE {t} (id BIGINT) USING delta', 'INSERT INTO {t} VALUES (7)');
    await steps('narrow', 'CREATE TABLE {t} (id INT) USING delta');
    await into(writerOf('wide', 'wide-checkpoint').format('delta'), 'narrow');
    expect(await bench().rows('narrow')).toEqual([{ id: 7 }]);
    await steps('wide', 'INSERT INTO {t} VALUES (9000000000)');
    await expect(into(writerOf('wide', 'wide-checkpoint').format('delta'), 'narrow')).rejects.toMatchObject({
      errorClass: 'STREAM_FAILED',
    });
    expect(await bench().rows('narrow')).toEqual([{ id: 7 }]);
  });

  it('the sink refuses partitions that its table does not have', async () => {
    await steps('parts', 'CREATE TABLE {t} (id INT, p INT) USING delta', 'INSERT INTO {t} VALUES (1, 2)');
    await steps('whole', 'CREATE TABLE {t} (id INT, p INT) USING delta');
    const writer = writerOf('parts', 'parts-checkpoint').format('delta').partitionBy('p');
    await expect(into(writer, 'whole')).rejects.toMatchObject({ errorClass: 'STREAM_FAILED' });
    expect(await bench().rows('whole')).toEqual([]);
  });

  it('an Iceberg table is loaded by its name', async () => {
    const warehouse = bench().path('lake');
    const session = bench().another({
      'spark.sql.catalog.lake': 'org.apache.iceberg.spark.SparkCatalog',
      'spark.sql.catalog.lake.type': 'hadoop',
      'spark.sql.catalog.lake.warehouse': warehouse,
    });
    await session.sql('CREATE TABLE lake.db.streamed (id INT) USING iceberg');
    await session.sql('INSERT INTO lake.db.streamed VALUES (1)');
    const rows: unknown[] = [];
    const query = await session.readStream
      .format('iceberg')
      .load('lake.db.streamed')
      .writeStream.foreachBatch(async (batch) => {
        rows.push(...(await batch.collect()));
      })
      .trigger({ availableNow: true })
      .start();
    await query.awaitTermination();
    expect(rows).toEqual([{ id: 1 }]);
  });
});
