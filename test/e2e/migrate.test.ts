import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventually, type ProductProcess, runProduct } from '../support/process.ts';
import { productBench } from '../support/product-bench.ts';
import { kafkaBrokers, redisUrl } from '../support/servers.ts';

/* `tidewater config migrate` prints a pipeline for a sink; served as it is, it writes nothing, and with the offsets of the sink what is behind them. */

const written = 20;
const all = 50;

describe('a migrated pipeline', () => {
  const { dir, workload, serve } = productBench('migrate');

  const sinkOf = async (columns: string): Promise<{ readonly topic: string; readonly flags: string[] }> => {
    const topic = `migrate.${randomUUID().slice(0, 8)}`;
    await workload.createTopic({ topic, partitions: 1 });
    const producer = workload.kafka.producer();
    await producer.connect();
    const messages = Array.from({ length: all }, (_, id) => ({
      value: JSON.stringify({ id, kind: id % 2 === 0 ? 'even' : 'odd', card: '4111' }),
    }));
    await producer.send({ topic, messages });
    await producer.disconnect();
    return { topic, flags: ['--brokers', kafkaBrokers().join(','), ...(columns === '' ? [] : ['--columns', columns])] };
  };

  const served = async (topic: string, flags: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<ProductProcess> => {
    mkdirSync(join(dir, topic), { recursive: true });
    const connector = join(dir, topic, 'connect.json');
    const options = {
      'connector.class': 'org.apache.iceberg.connect.IcebergSinkConnector',
      topics: topic,
      'iceberg.tables': 'db.evens',
      'iceberg.tables.route-field': 'kind',
      'iceberg.table.db.evens.route-regex': 'even',
      'iceberg.catalog.type': 'hadoop',
      'iceberg.catalog.warehouse': join(dir, topic, 'warehouse'),
      'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
      'value.converter.schemas.enable': 'false',
      ...more,
    };
    writeFileSync(connector, JSON.stringify({ name: topic, config: options }));
    const nothing = join(dir, topic, 'any.yaml');
    writeFileSync(nothing, 'pipeline: any\n');
    const { code, stdout, log } = await runProduct({ config: nothing, args: ['config', 'migrate', connector, ...flags] });
    expect(code, log).toBe(0);
    const config = join(dir, topic, 'tidewater.yaml');
    writeFileSync(config, stdout);
    const settings = [
      `dataDir=${join(dir, topic)}`,
      `redis.url=${redisUrl()}`,
      'maintenance.enabled=false',
      'server.port=0',
      'ingest.maxBatchAge=150ms',
    ];
    return serve({ config }, { args: settings.flatMap((setting) => ['--set', setting]) });
  };

  it('stands still at its first record', async () => {
    const { topic, flags } = await sinkOf('');
    const product = await served(topic, flags);
    await eventually('it stands still', () => Promise.resolve(product.log.includes('INGEST_SUSPENDED')));
    expect((await product.status()).tables[0]?.rowCount ?? 0).toBe(0);
  });

  it('writes what the sink has not, where its offsets are given', async () => {
    const { topic, flags } = await sinkOf('');
    const product = await served(topic, [...flags, '--offsets', `${topic}:0:${written}`]);
    await eventually('the others are there', async () => (await product.status()).tables[0]?.rowCount === (all - written) / 2);
    expect((await product.terminate()).code, product.log).toBe(0);
  });

  it('does what transforms did, where columns are given', async () => {
    const { topic, flags } = await sinkOf('id:long,kind:string,card:string');
    const mask = {
      transforms: 'm',
      'transforms.m.type': 'org.apache.kafka.connect.transforms.MaskField$Value',
      'transforms.m.fields': 'card',
    };
    const product = await served(topic, [...flags, '--offsets', `${topic}:0:${written}`], mask);
    await eventually('the others are there', async () => (await product.status()).tables[0]?.rowCount === (all - written) / 2);
    expect((await product.terminate()).code, product.log).toBe(0);
    const { stdout } = await runProduct({
      config: join(dir, topic, 'tidewater.yaml'),
      args: ['rows', 'evens', '--json', '--set', `dataDir=${join(dir, topic)}`],
    });
    const rows = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
    expect(rows.every(({ id, card }) => Number(id) >= written && card === '')).toBe(true);
    expect(Object.keys(rows[0] ?? {})).toEqual(['id', 'kind', 'card']);
  });
});
