import { expect, it } from 'vitest';
import type { AppCommands } from '../../../src/app/app-commands.ts';
import { PipelineFeeds } from '../../../src/app/pipeline-feeds.ts';
import { RandomIdSource } from '../../../src/base/ids.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { FeedHarness, fillTable } from '../cdf/feed-harness.ts';
import { type CliRun, cli } from './cli-support.ts';

const pipeline = `pipeline: demo
tables: [{ name: orders, columns: [{ name: id, type: long }, { name: name, type: string }] }]
feedDefaults: { start: earliest }
feeds: [{ table: orders, keyColumns: [id] }, { table: orders, name: even, where: "id % 2 = 0" }]
`;

async function withFeed(): Promise<{ readonly harness: FeedHarness; readonly run: (line: string, yaml?: string) => Promise<CliRun> }> {
  const harness = new FeedHarness();
  await fillTable(harness);
  await harness.catchUp({ partitions: 1 });
  const catalog = { load: () => Promise.resolve(harness.table) };
  const operateFeeds: AppCommands['operateFeeds'] = ({ loaded, signal }, use) => {
    const parts = {
      clock: harness.clock,
      kafka: harness.broker.client('operator'),
      ids: new RandomIdSource(new SeededRandom(3)),
      catalog,
      noteReaders: () => Promise.resolve(),
    };
    return use(new PipelineFeeds({ ...parts, config: loaded.config }), signal);
  };
  const run = (line: string, yaml = pipeline): Promise<CliRun> =>
    cli(`feeds ${line}`, { app: { operateFeeds }, files: { '/work/tidewater.yaml': yaml } });
  return { harness, run };
}

it('list shows where each feed stands, and show its settings', async () => {
  const { run } = await withFeed();
  const { out } = await run('list');
  expect(out.split('\n').map((line) => line.split(/ +/).join(' '))).toEqual([
    'FEED TABLE TOPIC STATE VERSION ORDINAL SNAPSHOT BEHIND',
    'cdf.orders orders cdf.orders changes 3 end - 0',
    'even orders cdf.orders.even new - - - -',
    '',
  ]);
  const shown = await run('show even --json');
  expect(JSON.parse(shown.out)).toMatchObject({
    id: 'demo/orders/even',
    state: 'new',
    settings: { where: 'id % 2 = 0', envelope: 'debezium' },
  });
  expect((await run('show cdf.orders')).out).toMatch(/^position +\{"version":3,/m);
});

it('pause and resume act at once, and again do nothing', async () => {
  const { run } = await withFeed();
  expect((await run('pause cdf.orders --dry-run')).out).toBe('pause demo/orders/cdf.orders: dry run, nothing was changed\n');
  expect((await run('resume cdf.orders')).out).toBe('resume demo/orders/cdf.orders: it is not paused\n');
  expect((await run('pause orders/cdf.orders')).out).toBe('pause demo/orders/cdf.orders: done\n');
  expect((await run('pause cdf.orders')).out).toBe('pause demo/orders/cdf.orders: it is paused already\n');
  expect((await run('list --json')).out.split('\n')[0]).toContain('"state":"paused"');
  expect((await run('resume cdf.orders')).out).toBe('resume demo/orders/cdf.orders: done\n');
});

it('reset says what it would do, and does it with --yes', async () => {
  const { run, harness } = await withFeed();
  const dry = await run('reset cdf.orders --to 2');
  expect(dry.out).toBe(
    'reset demo/orders/cdf.orders: dry run, nothing was changed\n  from: version 3, whole\n  to: the changes after version 1\n' +
      '  published again: versions 2 to 3, which the topic has already\nrun it again with --yes to do it\n',
  );
  const count = (await harness.published()).length;
  expect((await run('reset cdf.orders --to 2 --yes')).out).toContain(': done\n');
  await harness.catchUp({ partitions: 1 });
  // The changes of version 2, with a tombstone, and of version 3.
  expect((await harness.published()).length - count).toBe(5);
  expect(JSON.parse((await run('reset cdf.orders --to snapshot --json')).out)).toMatchObject({
    outcome: 'planned',
    reset: { to: { version: 3, snapshot: true }, again: null },
  });
});

it.each([
  ['pause nope', /no feed is called "nope"/],
  ['pause orders', /"orders" are several feeds: demo\/orders\/cdf\.orders, demo\/orders\/even/],
  ['reset even --to soon', /expected a version, a time such as/],
  ['reset even', /required option '--to <place>'/],
  ['reset even --to 2 --yes --dry-run', /exclude each other/],
  ['reset cdf.orders --to 77 --yes', /table "orders" ends at version 3/],
  [
    'register orders spark --from 5',
    /reader "spark" cannot read on from version 5: table "orders" ends at version 3[^]*--from 4 keeps what comes next/,
  ],
  ['register orders even --from 1', /feed "demo\/orders\/even" is in the settings/],
  ['register orders a/b --from 1', /"a\/b" is no name of a reader/],
  ['drop cdf.orders --yes', /is in the settings, and would be lost without its position/],
])('%s is refused', async (line, problem) => {
  const { run } = await withFeed();
  const { code, err } = await run(line);
  expect(code).not.toBe(0);
  expect(err).toMatch(problem);
});

it('register keeps changes from a version on for a reader, also from the next one on', async () => {
  const { run } = await withFeed();
  expect((await run('register orders spark --from 4')).out).toBe('register demo/orders/spark: done\n');
  expect((await run('register orders spark --from 2')).out).toBe('register demo/orders/spark: done\n');
  expect((await run('list')).out).toMatch(/spark +orders +- +reader +1 +end +- +2/);
  expect((await run('show spark')).out).toMatch(/^state +reader$/m);
  expect((await run('drop spark --yes')).out).toBe('drop demo/orders/spark: done\n');
});

it('list shows a feed as its next start would find it, and show tells why', async () => {
  const { run, harness } = await withFeed();
  const flat = pipeline.replace('keyColumns: [id] }', 'keyColumns: [id], envelope: flat }');
  expect((await run('list', flat)).out).toMatch(/cdf\.orders +orders +cdf\.orders +changed +3/);
  expect((await run('show cdf.orders', flat)).out).toMatch(/^problem .*FEED_VALUES_CHANGED|^problem .*envelope was debezium and is flat/m);
  await harness.reader.admin.deleteTopic('cdf._positions');
  expect((await run('list')).out).toMatch(/cdf\.orders +orders +cdf\.orders +lost/);
  expect((await run('show cdf.orders')).out).toMatch(
    /^problem .*has no position of it; topic "cdf.orders" holds rows up to 1 of version 3/m,
  );
  await run('reset cdf.orders --to latest --yes');
  await harness.reader.admin.deleteTopic('cdf.orders');
  expect((await run('list')).out).toMatch(/cdf\.orders +orders +cdf\.orders +replaced/);
});

it('rename gives a feed the position of its old name', async () => {
  const { run, harness } = await withFeed();
  const renamed = pipeline.replace('{ table: orders, keyColumns', '{ table: orders, name: all, topic: cdf.orders, keyColumns');
  const spec = { name: 'all', partitions: 1 };
  expect(await harness.start(spec).ended).toMatchObject({ state: 'changed', error: { code: 'FEED_TOPIC_TAKEN' } });
  expect((await run('reset all --to latest --yes', renamed)).err).toContain('tidewater feeds rename demo/orders/cdf.orders all');
  expect((await run('rename cdf.orders even')).err).toContain('FEED_LISTED');
  expect((await run('rename cdf.orders none', renamed)).err).toContain('no feed is called "none"');
  expect((await run('rename demo/orders/cdf.orders all', renamed)).out).toContain('run it again with --yes to do it');
  expect((await run('rename demo/orders/cdf.orders all --yes', renamed)).out).toBe('rename demo/orders/cdf.orders: done\n');
  expect((await run('list', renamed)).out).toMatch(/all +orders +cdf\.orders +changes +3[^]*\n(?![^]*unlisted)/);
  await harness.table.commit([{ kind: 'insert', rows: [{ id: 8 }] }]);
  const before = (await harness.published()).length;
  await harness.catchUp(spec);
  expect((await harness.published()).length - before).toBe(1);
  // A process that has the old name yet.
  const old = await harness.start({ partitions: 1, onLostPosition: 'recover' }).ended;
  expect(old).toMatchObject({ state: 'changed', error: { code: 'FEED_TOPIC_TAKEN' } });
});

it('drop forgets a feed that the settings do not have any more', async () => {
  const { run } = await withFeed();
  const without = pipeline.replace(/feeds: .*\n/, '');
  expect((await run('list', without)).out).toMatch(/cdf\.orders +orders +- +unlisted +3/);
  expect((await run('drop demo/orders/cdf.orders', without)).out).toContain('run it again with --yes to do it');
  expect((await run('drop demo/orders/cdf.orders --yes', without)).out).toBe('drop demo/orders/cdf.orders: done\n');
  expect((await run('list', without)).out).toBe('the pipeline has no feeds\n');
});
