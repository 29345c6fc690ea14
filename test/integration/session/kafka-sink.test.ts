import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openStreamKafka } from '../../../src/app/open-stream-kafka.ts';
import { SystemClock } from '../../../src/base/system-clock.ts';
import { SystemRandom } from '../../../src/base/system-random.ts';
import type { StreamingQuery } from '../../../src/index.ts';
import type { KafkaClient, KafkaRecord } from '../../../src/kafka/client.ts';
import { partitionOfKey } from '../../../src/kafka/murmur2.ts';
import { kafkaBrokers } from '../../support/servers.ts';
import { settledTopic } from '../../support/settled-topic.ts';
import { readTopic } from '../../support/simulation/topic-checks.ts';
import { type TemporarySession, temporarySession } from '../../support/temporary-session.ts';

/** Row B18 of the parity page, for the one sink that needs a broker. The other sinks: test/parity/streaming-sinks.test.ts. */

const text = (bytes: Uint8Array | undefined): string | undefined => (bytes === undefined ? undefined : new TextDecoder().decode(bytes));

describe('a stream into Kafka', () => {
  let kafka: KafkaClient;
  let made: TemporarySession;
  let topic: string;

  beforeAll(() => {
    kafka = openStreamKafka(kafkaBrokers().join(','), { clock: new SystemClock(), random: new SystemRandom() });
  });
  afterAll(() => kafka.close());

  beforeEach(async () => {
    topic = `sink-${randomUUID()}`;
    await kafka.admin.ensureTopics([{ topic, partitions: 3 }]);
    made = await temporarySession();
    const { session } = made;
    await session.sql('CREATE TABLE t (id INT, v STRING) USING delta TBLPROPERTIES (delta.enableChangeDataFeed = true)');
    await session.sql("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, NULL)");
    await session.sql("UPDATE t SET v = 'z' WHERE id = 1");
  });
  afterEach(() => made[Symbol.asyncDispose]());

  const read = async (): Promise<readonly KafkaRecord[]> => {
    await settledTopic(kafka, topic);
    return readTopic(kafka, topic);
  };

  /** Everything there is of the change feed, in one transaction a batch. */
  async function drain(columns: readonly string[], options: Readonly<Record<string, string>> = { topic }): Promise<StreamingQuery> {
    const { session, directory } = made;
    const query = await session.readStream
      .options({ readChangeFeed: 'true', startingVersion: '0' })
      .table('t')
      .selectExpr(...columns)
      .writeStream.format('kafka')
      .options({ 'kafka.bootstrap.servers': kafkaBrokers().join(','), checkpointLocation: join(directory, 'checkpoint'), ...options })
      .trigger({ availableNow: true })
      .start();
    await query.awaitTermination();
    return query;
  }

  const keyed = ['CAST(id AS STRING) AS key', 'to_json(struct(id, v, _change_type)) AS value'];

  it('B18: produces keys and values, partitioned as other producers do, and reports what it wrote', async () => {
    const query = await drain(keyed);
    const records = await read();
    expect(records.map((record) => `${text(record.key) ?? ''} ${text(record.value) ?? ''}`).sort()).toEqual([
      '1 {"id":1,"v":"a","_change_type":"insert"}',
      '1 {"id":1,"v":"a","_change_type":"update_preimage"}',
      '1 {"id":1,"v":"z","_change_type":"update_postimage"}',
      '2 {"id":2,"v":"b","_change_type":"insert"}',
      '3 {"id":3,"_change_type":"insert"}',
    ]);
    for (const { key = new Uint8Array(), partition } of records) expect(partition).toBe(partitionOfKey(key, key.length, 3));
    expect(query.recentProgress.find((progress) => progress.numInputRows > 0)?.sink).toEqual({
      description: `KafkaSink[${topic}]`,
      numOutputRows: 5,
    });
  });

  it('B18: a restart goes on behind the last batch, and produces a batch in doubt again', async () => {
    await drain(keyed);
    await made.session.sql('DELETE FROM t WHERE id = 2');
    await drain(keyed);
    expect(await read()).toHaveLength(6);
    await drain(keyed);
    expect(await read()).toHaveLength(6);
    rmSync(join(made.directory, 'checkpoint', 'commits', '1'));
    await drain(keyed);
    expect(await read()).toHaveLength(7);
  });

  it('B18: topic and partition may come from columns, and a null value is a tombstone', async () => {
    const columns = [`'${topic}' AS topic`, '2 AS partition', 'CAST(CAST(id AS STRING) AS BINARY) AS key', 'CAST(NULL AS STRING) AS value'];
    await drain(columns, {});
    const records = await read();
    expect(records).toHaveLength(5);
    for (const record of records) expect([record.partition, record.value, record.key?.length]).toEqual([2, undefined, 1]);
  });

  it('B18: rows without what the sink needs fail the query, and nothing is produced', async () => {
    await expect(drain(['id AS value'])).rejects.toMatchObject({
      errorClass: 'STREAM_FAILED',
      cause: { errorClass: 'KAFKA_SINK_SCHEMA_INVALID', message: expect.stringContaining('column "value" is integer') as string },
    });
    const nowhere = made.session.readStream.table('t').selectExpr('v AS value').writeStream.format('kafka');
    await expect(nowhere.option('checkpointLocation', join(made.directory, 'other')).start()).rejects.toThrow(/kafka\.bootstrap\.servers/);
    expect(await read()).toEqual([]);
  });
});
