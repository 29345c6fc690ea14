import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CapturedRegistry, goldenPayloads } from '../support/golden-payloads.ts';
import { eventually, runProduct } from '../support/process.ts';
import { productBench } from '../support/product-bench.ts';
import { kafkaBrokers, redisUrl } from '../support/servers.ts';

/* `tidewater init` looks at a topic; what it prints is served as it is, and takes each record. */

describe('init', () => {
  const { dir, workload, serve } = productBench('init');

  const topicOf = async (messages: readonly { readonly key: string; readonly value: Buffer | string | null }[]): Promise<string> => {
    const topic = `init.${randomUUID().slice(0, 8)}`;
    await workload.createTopic({ topic, partitions: 1 });
    const producer = workload.kafka.producer();
    await producer.connect();
    await producer.send({ topic, messages: [...messages] });
    await producer.disconnect();
    return topic;
  };

  it.each(['delta', 'iceberg'] as const)('P02: of JSON, for %s', async (format) => {
    const messages = Array.from({ length: 50 }, (_, id) => ({
      key: String(id),
      value: JSON.stringify({ id, at: '2024-03-01T10:00:00Z', price: id / 4, 'unit price': id, tags: ['a'], gone: null }),
    }));
    const topic = await topicOf(messages);
    const yaml = await printed(topic, ['--table', 'things', '--table-format', format]);
    expect(yaml).toContain('# gone: left out, null in all 50 records that have it');
    const served = serve({ config: written(topic, yaml) }, { args: overridesOf(topic) });
    await eventually('all rows are there', async () => (await served.status()).tables[0]?.rowCount === messages.length);
    expect((await served.terminate()).code, served.log).toBe(0);
  });

  it('P02: of Protobuf in a registry', async () => {
    const { schemas, records } = goldenPayloads('protobuf');
    await using registry = new CapturedRegistry(schemas, 'PROTOBUF');
    await registry.start();
    const own = records.filter(({ record }) => record.topic === 'enc.proto.orders');
    const values = own.map(({ record }) => (record.value === null ? null : Buffer.from(record.value, 'base64')));
    const topic = await topicOf(values.map((value, index) => ({ key: String(index), value })));
    const yaml = await printed(topic, ['--registry', registry.url]);
    const served = serve({ config: written(topic, yaml) }, { args: overridesOf(topic) });
    const rows = values.filter((value) => value !== null).length;
    await eventually('all rows are there', async () => (await served.status()).tables[0]?.rowCount === rows);
    expect((await served.terminate()).code, served.log).toBe(0);
  });

  it('a topic that is not there, and no broker', async () => {
    const config = brokersOnly('none');
    const missing = await runProduct({ config, args: ['init', 'init.none'] });
    expect([missing.code, missing.log]).toEqual([1, expect.stringContaining('KAFKA_TOPIC_NOT_FOUND')]);
    const nowhere = await runProduct({ config, args: ['init', 'init.none', '--set', 'kafka.brokers=[]'] });
    expect([nowhere.code, nowhere.log]).toEqual([2, expect.stringContaining('--brokers localhost:9092')]);
  });

  async function printed(topic: string, args: readonly string[]): Promise<string> {
    const { code, stdout, log } = await runProduct({ config: brokersOnly(topic), args: ['init', topic, ...args] });
    expect(code, log).toBe(0);
    return stdout;
  }

  function brokersOnly(name: string): string {
    return written(`${name}-brokers`, `pipeline: any\nkafka: { brokers: [${kafkaBrokers().join(', ')}] }\n`);
  }

  function written(name: string, yaml: string): string {
    mkdirSync(join(dir, name), { recursive: true });
    const file = join(dir, name, 'tidewater.yaml');
    writeFileSync(file, yaml);
    return file;
  }

  /** What a file for these servers would say besides. */
  function overridesOf(topic: string): string[] {
    const settings = [`dataDir=${join(dir, topic)}`, `redis.url=${redisUrl()}`, 'maintenance.enabled=false', 'server.port=0'];
    return settings.flatMap((setting) => ['--set', setting]);
  }
});
