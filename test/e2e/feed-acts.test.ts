import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { consume, foldFeed, header, type Received } from '../support/checks-feed.ts';
import { eventually, type ProductProcess, runProduct } from '../support/process.ts';
import { untilThrough } from '../support/process-drain.ts';
import { type PipelineCase, Produced, pipelineCase } from '../support/process-workload.ts';
import { bothFormats, productBench } from '../support/product-bench.ts';

/* Several feeds of a table, and what operators do to them while processes are killed. */

describe('feeds are operated', () => {
  const { dir, workload, serve } = productBench('feed-acts');
  const feedOf = async (one: ProductProcess, name: string) => (await one.status()).feeds.find((feed) => feed.name === name);
  const stateOf = async (one: ProductProcess, name: string): Promise<string | undefined> => (await feedOf(one, name))?.state;
  const read = (topic: string, count: number): Promise<readonly Received[]> =>
    consume(workload.kafka, [topic], (received) => received.length >= count);
  const feeds = async (pipeline: PipelineCase, ...args: readonly string[]): Promise<string> => {
    const { code, stdout, log } = await runProduct({ config: pipeline.config, args: ['feeds', ...args] });
    expect(code, log).toBe(0);
    return stdout;
  };

  it.each(bothFormats)(
    'X01: of %s several feeds, one of them added while the others run, are exact under kills, each row of a condition once',
    async (_, { label, iceberg }) => {
      const pipeline = pipelineCase(dir, `several-${label}`, {
        iceberg,
        otherFeeds: { even: 'start: earliest, where: "id % 2 = 0 AND kind = \'blue\'", select: [id, kind]' },
      });
      const before = join(dir, pipeline.name, 'before.yaml');
      writeFileSync(before, readFileSync(pipeline.config, 'utf8').replace(/^ {2}- \{ table: events, name: even.*\n/m, ''));
      const produced = new Produced();
      await workload.createTopic(pipeline);
      await workload.produce(pipeline, produced, 600);
      const first = serve({ config: before });
      await untilThrough(first, pipeline, produced);
      const second = serve(pipeline, { env: { FAILPOINT: 'within-transaction:kill:2' } });
      await workload.produce(pipeline, produced, 600);
      // Only the process that knows the new feed publishes it.
      expect((await second.exited()).signal).toBe('SIGKILL');
      const third = serve(pipeline);
      await workload.produce(pipeline, produced, 300);
      await eventually('the new feed follows', async () => (await stateOf(third, 'even')) === 'following');
      await first.kill();
      await workload.produce(pipeline, produced, 300);
      await untilThrough(third, pipeline, produced);
      expect((await third.terminate()).code, third.log).toBe(0);
      const whole = foldFeed(await read(pipeline.feedTopic, produced.rowCount));
      expect([whole.findings, whole.rows.length]).toEqual([[], produced.rowCount]);
      const matching = await read(`${pipeline.name}.even`, 0);
      const ids = matching.map(({ value }) => (JSON.parse(String(value)) as { readonly after: { readonly id: number } }).after.id);
      const expected = Array.from({ length: produced.count }, (__, id) => id).filter((id) => id % 6 === 0 && id % 97 !== 0);
      expect(ids.toSorted((left, right) => left - right)).toEqual(expected);
    },
  );

  it('X01: pause holds through kills and starts, and a reset is not written over by the publisher', async () => {
    const pipeline = pipelineCase(dir, 'paused', {});
    const produced = new Produced();
    await workload.createTopic(pipeline);
    await workload.produce(pipeline, produced, 300);
    const name = pipeline.feedTopic;
    const first = serve(pipeline);
    await untilThrough(first, pipeline, produced);
    expect(await feeds(pipeline, 'pause', name)).toContain(': done');
    await eventually('it is paused', async () => (await stateOf(first, name)) === 'paused');
    expect((await first.probe('/readyz')).status).toBe(200);
    const paused = (await feedOf(first, name))?.publishedVersion ?? -1;
    await workload.produce(pipeline, produced, 200);
    await eventually('it falls behind', async () => ((await feedOf(first, name))?.lagVersions ?? 0) > 0);
    await first.kill();
    const second = serve(pipeline);
    await eventually('it still is', async () => (await stateOf(second, name)) === 'paused');
    expect(await feeds(pipeline, 'list')).toMatch(/ paused /);
    // All of it once more, and the rest for the first time.
    expect(await feeds(pipeline, 'reset', name, '--to', 'earliest', '--yes')).toContain('published again: versions');
    await eventually('it still is, once it has opened there', async () => (await stateOf(second, name)) === 'paused');
    expect(await feeds(pipeline, 'resume', name)).toContain(': done');
    await untilThrough(second, pipeline, produced);
    // At rest it has no transaction that would be fenced: it looks.
    expect(await feeds(pipeline, 'reset', name, '--to', 'earliest', '--yes')).toContain(': done');
    const versions = new Map<number, number>();
    const received = await read(name, produced.rowCount * 2 + 296);
    for (const message of received) {
      const version = Number(header(message, 'version'));
      const place = version * 100_000 + Number(header(message, 'ordinal'));
      versions.set(place, (versions.get(place) ?? 0) + 1);
    }
    expect((await second.terminate()).code, second.log).toBe(0);
    const times = [...versions].map(([place, count]) => [Math.floor(place / 100_000) <= paused, count].join());
    expect(new Set(times)).toEqual(new Set(['true,3', 'false,2']));
    expect(versions.size).toBe(produced.rowCount);
  });

  it.each(bothFormats)(
    'X01: of %s a snapshot goes on where the process was killed, and changes follow it without gap or overlap',
    async (_, { label, iceberg }) => {
      const pipeline = pipelineCase(dir, `snapshot-${label}`, {
        iceberg,
        otherFeeds: { snap: 'start: snapshot, snapshotMaxRowsPerSecond: 100' },
      });
      const before = join(dir, pipeline.name, 'before.yaml');
      writeFileSync(before, readFileSync(pipeline.config, 'utf8').replace(/^ {2}- \{ table: events, name: snap.*\n/m, ''));
      const produced = new Produced();
      await workload.createTopic(pipeline);
      await workload.produce(pipeline, produced, 900);
      const first = serve({ config: before });
      await untilThrough(first, pipeline, produced);
      expect((await first.terminate()).code, first.log).toBe(0);
      const rows = produced.rowCount;
      let passed = 0;
      for (let kills = 0; kills < 2; kills++) {
        const one = serve(pipeline);
        const from = passed;
        passed = await eventually('it is inside the snapshot', async () => {
          const snapshot = (await feedOf(one, 'snap'))?.snapshot;
          return snapshot?.totalRows === rows && snapshot.rows > from + 100 ? snapshot.rows : false;
        });
        await one.kill();
        await workload.produce(pipeline, produced, 100);
      }
      expect(await feeds(pipeline, 'list')).toMatch(/^snap .* snapshot .*\d%/m);
      const last = serve(pipeline, { args: ['--set', 'feeds[1].snapshotMaxRowsPerSecond=100000'] });
      await untilThrough(last, pipeline, produced);
      expect((await last.terminate()).code, last.log).toBe(0);
      const received = await read(`${pipeline.name}.snap`, produced.rowCount);
      const ids = received.map(({ key }) => (JSON.parse(String(key)) as { readonly id: number }).id);
      expect([received.length, new Set(ids).size]).toEqual([produced.rowCount, produced.rowCount]);
      expect(received.filter((message) => header(message, 'op') === 'r').length).toBe(rows);
    },
  );

  it.each(bothFormats)(
    'P10: of %s what a paused feed needs is kept up to the cap, and behind it let go of when told to',
    async (_, { label, iceberg }) => {
      const pipeline = pipelineCase(dir, `held-${label}`, { iceberg });
      const produced = new Produced();
      await workload.createTopic(pipeline);
      const first = serve(pipeline);
      await workload.produce(pipeline, produced, 50);
      await untilThrough(first, pipeline, produced);
      await feeds(pipeline, 'pause', pipeline.feedTopic);
      for (let round = 0; round < 4; round++) {
        await workload.produce(pipeline, produced, 50);
        await eventually('it is committed', async () => {
          const [table] = (await first.status()).tables;
          return [...produced.ends].every(
            ([partition, end]) => table?.partitions.find((entry) => entry.partition === partition)?.committedOffset === Number(end),
          );
        });
      }
      expect((await first.terminate()).code, first.log).toBe(0);
      const maintain = async (...args: readonly string[]): Promise<{ readonly outcome: string }> => {
        const { code, stdout, log } = await runProduct({ config: pipeline.config, args: ['maintain', ...args, '--json'] });
        expect(code, log).toBe(0);
        return JSON.parse(stdout) as { readonly outcome: string };
      };
      await maintain('compact', 'events');
      const cleaning =
        iceberg === undefined
          ? ['vacuum', 'events', '--retain', '0s', '--allow-short-retention', '--yes']
          : ['expire', 'events', '--retain', '1s'];
      const cap = ['--set', 'maintenance.feedHold.maxAge=1s', '--set'];
      const outcomeOf = async (...args: readonly string[]): Promise<string> => (await maintain(...cleaning, ...args)).outcome;
      expect(await outcomeOf()).toBe('nothing-to-do');
      expect(await outcomeOf(...cap, 'maintenance.feedHold.past=hold')).toBe('nothing-to-do');
      const second = serve(pipeline, { args: [...cap, 'maintenance.feedHold.past=release', '--set', 'maintenance.enabled=true'] });
      await eventually('the alarm is on', async () => (await second.metrics()).sum('tidewater_maintenance_holds_released') === 1);
      await eventually('it is ready all the same', async () => (await second.probe('/readyz')).status === 200);
      await second.terminate();
      expect(await outcomeOf(...cap, 'maintenance.feedHold.past=release')).toBe('done');
      await feeds(pipeline, 'resume', pipeline.feedTopic);
      const third = serve(pipeline);
      await eventually('the loss is told', async () => (await stateOf(third, pipeline.feedTopic)) === 'gap');
      await third.terminate();
    },
  );
});
