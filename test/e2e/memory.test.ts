import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventually, runProduct } from '../support/process.ts';
import { productBench } from '../support/product-bench.ts';
import { kafkaBrokers, redisUrl } from '../support/servers.ts';

/* One budget for the process: twenty tables with a backlog each, in little memory. */

const budgetMiB = 448;
const tableCount = 20;
const batchesPerTable = 40;
const recordsPerBatch = 100;
/** Far above the budget is where a process goes that does not keep to it; the kernel counts pages that were given back and not taken away yet. */
const generousMiB = 1.5 * budgetMiB;
const catchUpMs = 120_000;

describe('the memory of a process', () => {
  const { dir, workload, serve } = productBench('memory');

  function pipelineOf(tables: readonly string[], memoryMiB: number): { readonly name: string; readonly config: string } {
    const name = `memory-${randomUUID().slice(0, 8)}`;
    const config = join(dir, name, 'pipeline.yaml');
    mkdirSync(join(dir, name));
    writeFileSync(
      config,
      `pipeline: ${name}
dataDir: ${join(dir, name)}
kafka: { brokers: [${kafkaBrokers().join(', ')}] }
redis: { url: "${redisUrl()}" }
tables:
${tables.map((table) => `  - { name: ${table}, columns: [{ name: id, type: long }, { name: body, type: string }] }`).join('\n')}
ingest:
  memory: ${memoryMiB}MiB
  maxBatchAge: 2s
  routes:
${tables.map((table) => `    - { topics: [${name}.${table}], table: ${table} }`).join('\n')}
maintenance: { enabled: false }
server: { port: 0 }
logging: { format: json, level: info }
`,
    );
    return { name, config };
  }

  it('P07: twenty tables with a backlog stay within a small budget, and all of them get on', async () => {
    const tables = Array.from({ length: tableCount }, (_, index) => `t${index}`);
    const { name, config } = pipelineOf(tables, budgetMiB);
    for (const table of tables) await workload.createTopic({ topic: `${name}.${table}`, partitions: 1 });
    const producer = workload.kafka.producer({ idempotent: true, maxInFlightRequests: 1 });
    await producer.connect();
    // Text that nothing packs, so that what the broker has is what is fetched.
    const messages = Array.from({ length: recordsPerBatch }, (_, id) => ({ value: JSON.stringify({ id, body: randomUUID().repeat(28) }) }));
    for (const table of tables)
      for (let batch = 0; batch < batchesPerTable; batch += 1) await producer.send({ topic: `${name}.${table}`, messages });
    await producer.disconnect();

    const running = serve({ config });
    let peakWaiting = 0;
    await eventually(
      'every table has its rows',
      async () => {
        if (running.exit !== undefined) throw new Error(running.log);
        const { tables: states, memory } = await running.status();
        peakWaiting = Math.max(peakWaiting, memory?.waiting.length ?? 0);
        return states.every(({ rowCount }) => rowCount === batchesPerTable * recordsPerBatch);
      },
      catchUpMs,
    );
    const memory = (await running.status()).memory;
    expect(memory).toMatchObject({ budgetBytes: budgetMiB * 2 ** 20, waiting: [] });
    // What is granted at the end: fetches that wait for records at the broker.
    expect({ memory, kept: (memory?.peakBytes ?? 0) <= (memory?.sizeBytes ?? 0) }).toMatchObject({ kept: true });
    expect(peakRssMiB(running.pid)).toBeLessThan(generousMiB);
    expect((await running.metrics()).sum('tidewater_ingest_memory_size_bytes')).toBe(memory?.sizeBytes);
    expect((await running.terminate()).code, running.log).toBe(0);
  });

  it('P07: a start is refused when the partitions of its topics do not fit into the budget', async () => {
    // What one worker needs without any partition.
    const { name, config } = pipelineOf(['wide'], 352);
    await workload.createTopic({ topic: `${name}.wide`, partitions: 50 });
    const refused = await runProduct({ config, args: ['serve'] });
    expect([refused.code, refused.log]).toEqual([
      1,
      expect.stringContaining(
        'MEMORY_TOO_SMALL: ingest.memory of 352 MiB is too little for 1 workers and 50 partitions: 355 MiB are needed',
      ),
    ]);
  });
});

/** The kernel's own high-water mark. */
function peakRssMiB(pid: number): number {
  if (process.platform !== 'linux') return 0;
  return Number(/VmHWM:\s+(\d+) kB/u.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
}
