import { readFileSync, writeFileSync } from 'node:fs';
import { Partitioners } from 'kafkajs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readTable } from '../support/checks.ts';
import { sourceOffsets, withDuckDb } from '../support/checks-table.ts';
import { eventually, ProductProcess, runProduct } from '../support/process.ts';
import { type PipelineCase, type PipelineOptions, pipelineCase, Workload } from '../support/process-workload.ts';
import { removeDirectory, temporaryDirectory } from '../support/servers.ts';

/*
 * Dead letters are replayed into their table after its route was corrected, killed in the middle of the replay and of the ingest that reads what
 * was replayed: every record is a row once (docs/spec/dead-letters.md, R1 to R6).
 */

const partitions = 2;
/** More than a transaction of a replay holds. */
const badCount = 2_200;
const goodCount = 50;
/** Where the replay is killed is before any table is asked, so each point is for one format; the ingest is killed in both. */
const replays: readonly (readonly [what: string, point: string, options: PipelineOptions])[] = [
  ['a Delta table', 'transaction-end-applied', {}],
  ['an Iceberg table', 'before-transaction-end', { iceberg: { kind: 'sql' } }],
];
const cure = `,
    columns: [{ name: id, type: long }, { name: kind, type: string }, { name: cost, type: string, member: amount },
      { name: p, type: integer, from: partition }, { name: o, type: long, from: offset }],
    select: [id, kind, "try_cast(cost AS decimal(12,2)) AS amount", "p AS kafka_partition", "o AS kafka_offset"] }]`;

interface Listed {
  readonly partition: number;
  readonly offset: number;
  readonly timesReplayed: number;
  readonly replayedAt: string | null;
  readonly source: unknown;
}

describe('dead letters that are replayed', () => {
  const dir = temporaryDirectory('replay');
  const workload = new Workload();
  const running: ProductProcess[] = [];
  beforeAll(() => workload.connect());
  afterEach(async () => {
    await Promise.all(running.splice(0).map((started) => started.kill()));
  });
  afterAll(async () => {
    await workload.close();
    removeDirectory(dir);
  });

  const start = (pipeline: PipelineCase, args: readonly string[], failpoint = ''): ProductProcess => {
    const started = new ProductProcess({ config: pipeline.config, args, env: { FAILPOINT: failpoint } });
    running.push(started);
    return started;
  };

  async function produce({ topic }: PipelineCase): Promise<void> {
    const producer = workload.kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
    await producer.connect();
    const messages = Array.from({ length: badCount + goodCount }, (_, id) => ({
      key: String(id),
      partition: id % partitions,
      value: JSON.stringify({ id, kind: 'blue', amount: id < goodCount ? '1.50' : 'n/a' }),
    }));
    try {
      await producer.send({ topic, messages });
    } finally {
      await producer.disconnect();
    }
  }

  const untilRows = (one: ProductProcess, rows: number): Promise<boolean> =>
    eventually(
      `the table has ${rows} rows`,
      async () => {
        if (one.exit !== undefined) throw new Error(`ended with ${JSON.stringify(one.exit)}:\n${one.log}`);
        const [table] = (await one.status()).tables;
        const isRead = table?.partitions.every(({ committedOffset, endOffset }) => (committedOffset ?? 0) + 1 >= Number(endOffset));
        return table?.rowCount === rows && isRead === true;
      },
      90_000,
    );

  /** `partition:offset` of every row, sorted. */
  const sources = async (pipeline: PipelineCase): Promise<readonly string[]> => {
    const found = await withDuckDb((db) => sourceOffsets(db, pipeline.tableDir, readTable(pipeline)));
    return found.toSorted();
  };

  async function rejected(label: string, options: PipelineOptions): Promise<PipelineCase> {
    const pipeline = pipelineCase(dir, label, { ...options, partitions });
    await workload.createTopic(pipeline);
    await produce(pipeline);
    const first = start(pipeline, ['serve']);
    await untilRows(first, goodCount);
    expect((await first.terminate()).code, first.log).toBe(0);
    return pipeline;
  }

  function correctRoute({ config }: PipelineCase): void {
    writeFileSync(config, readFileSync(config, 'utf8').replace('table: events }]', `table: events${cure}`));
  }

  async function expectWhole(pipeline: PipelineCase): Promise<void> {
    const perPartition = (badCount + goodCount) / partitions;
    const all = Array.from({ length: partitions }, (_, p) => Array.from({ length: perPartition }, (_each, o) => `${p}:${o}`)).flat();
    expect(await sources(pipeline)).toEqual(all.toSorted());
    const audited = await runProduct({ config: pipeline.config, args: ['audit', '--rows', '--json'] });
    const held = { rows: badCount + goodCount, replayed: badCount, deadLettered: badCount, sound: true };
    const report: unknown = JSON.parse(audited.stdout);
    expect(report, audited.log).toMatchObject(held);
    expect(report).toMatchObject({ checked: expect.arrayContaining([expect.stringContaining(`${badCount + goodCount} rows`)]) as unknown });
  }

  it.each(replays)(
    'X11: are rows of %s once, with the replay killed at %s and the ingest in the middle',
    async (_, point, options) => {
      const pipeline = await rejected(`replay-${point}`, options);
      correctRoute(pipeline);
      const killed = start(pipeline, ['dlq', 'replay'], `${point}:kill:2`);
      expect(await killed.exited(), killed.log).toMatchObject({ signal: 'SIGKILL' });
      const reading = start(pipeline, ['serve'], 'commit-applied:kill:1');
      expect(await reading.exited(), reading.log).toMatchObject({ signal: 'SIGKILL' });
      const rest = await runProduct({ config: pipeline.config, args: ['dlq', 'replay', '--json'] });
      expect(rest.code, rest.log).toBe(0);
      const replayedFirst = point === 'before-transaction-end' ? 1_000 : 2_000;
      const report: unknown = JSON.parse(rest.stdout.trim().split('\n').at(-1) ?? '');
      expect(report).toEqual({
        replayed: badCount - replayedFirst,
        replayedBefore: replayedFirst,
        otherPipelines: 0,
        refused: 0,
        dryRun: false,
      });
      const staging = start(pipeline, ['serve'], 'before-commit:kill:1');
      expect(await staging.exited(), staging.log).toMatchObject({ signal: 'SIGKILL' });
      const last = start(pipeline, ['serve']);
      await untilRows(last, badCount + goodCount);
      expect((await last.terminate()).code, last.log).toBe(0);
      await expectWhole(pipeline);
    },
    240_000,
  );

  it('X11: are read by a pipeline that runs, become letters again where they still do not fit, and are told apart', async () => {
    const pipeline = await rejected('replay-again', {});
    const serving = start(pipeline, ['serve']);
    await untilRows(serving, goodCount);
    const list = async (...flags: string[]): Promise<readonly Listed[]> => {
      const { stdout } = await runProduct({ config: pipeline.config, args: ['dlq', 'list', '--json', ...flags] });
      return stdout
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Listed);
    };
    const [first] = await list('--limit', '1');
    const place = `${first?.partition}:${first?.offset}`;
    const once = await runProduct({ config: pipeline.config, args: ['dlq', 'replay', place] });
    expect([once.code, once.stdout.trim().split('\n').at(-1)], once.log).toEqual([0, '1 letter replayed']);
    await eventually('it is a letter again', async () => (await list()).length === badCount + 1, 60_000);
    const letters = await list();
    const again = letters.filter(({ timesReplayed }) => timesReplayed === 1);
    const reasons = { reason: 'wrong-type', firstReason: 'wrong-type', replayedAt: null };
    expect(again).toMatchObject([{ ...reasons, source: first?.source }]);
    const replayed = letters.filter(({ replayedAt }) => replayedAt !== null);
    expect(replayed.map(({ partition, offset }) => [partition, offset])).toEqual([[first?.partition, first?.offset]]);
    expect((await runProduct({ config: pipeline.config, args: ['dlq', 'replay', place] })).stdout).toContain(
      '0 letters replayed, 1 were replayed before',
    );
    expect((await serving.terminate()).code, serving.log).toBe(0);
    expect(await sources(pipeline)).toHaveLength(goodCount);
  }, 180_000);
});
