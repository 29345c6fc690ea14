import { describe, expect, it } from 'vitest';
import { RandomIdSource } from '../../../src/base/ids.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { FeedOperator } from '../../../src/cdf/feed-operator.ts';
import type { FeedReset, ResetTarget } from '../../../src/cdf/feed-reset.ts';
import { feedIdOf } from '../../../src/cdf/feed-spec.ts';
import { OperatorActs } from '../../../src/cdf/operator-acts.ts';
import { PositionStore } from '../../../src/cdf/position-store.ts';
import { toVersion } from '../../../src/table/version.ts';
import { FeedHarness, feedSpec, fillTable } from './feed-harness.ts';

const spec = { ...feedSpec, partitions: 1 };
const feedId = feedIdOf(spec);

function operatorOf(harness: FeedHarness): FeedOperator {
  return new FeedOperator({
    client: harness.broker.client('operator'),
    clock: harness.clock,
    ids: new RandomIdSource(new SeededRandom(9)),
  });
}

const storedOf = async (harness: FeedHarness) => (await operatorOf(harness).stored(spec.positionsTopic)).get(feedId);

/** `version.ordinal` of each record, `s` behind those of a snapshot; tombstones left out. */
async function places(harness: FeedHarness): Promise<readonly string[]> {
  return (await harness.published()).flatMap(({ headers }) => {
    const found = new Map(headers.map(([name, value]) => [name, Buffer.from(value).toString()]));
    if (found.has('tombstone')) return [];
    return [`${found.get('version') ?? ''}.${found.get('ordinal') ?? ''}${found.has('snapshot') ? 's' : ''}`];
  });
}

const reset = (harness: FeedHarness, target: ResetTarget): Promise<FeedReset> => harness.reset(target, spec);

describe('a feed that is paused', () => {
  it('publishes nothing from then on, through starts, and goes on exactly there when it is resumed', async () => {
    const harness = new FeedHarness();
    await fillTable(harness);
    await harness.catchUp(spec);
    const before = await places(harness);
    await operatorOf(harness).pause(spec);
    await harness.table.commit([{ kind: 'insert', rows: [{ id: 8, name: 'v4-8' }] }]);
    for (let start = 0; start < 2; start++) {
      const running = harness.start(spec);
      await running.feed.drain(harness.table.latestVersion);
      expect(running.feed.status()).toMatchObject({ state: 'paused', position: { version: 3 }, lagVersions: 1 });
      expect(running.feed.status().pausedSince).toMatch(/^\d{4}-.*Z$/);
      await running.stop();
    }
    expect(await places(harness)).toEqual(before);
    await operatorOf(harness).resume(spec);
    await harness.catchUp(spec);
    expect(await places(harness)).toEqual([...before, '4.0']);
  });

  it('is fenced at once: a publisher at work cannot publish after the act', async () => {
    const harness = new FeedHarness();
    await fillTable(harness);
    const running = harness.start(spec);
    await running.feed.drain(harness.table.latestVersion);
    await operatorOf(harness).pause(spec);
    await harness.table.commit([{ kind: 'insert', rows: [{ id: 8, name: 'v4-8' }] }]);
    harness.events.committed('orders', harness.table.latestVersion);
    expect((await running.ended).state).toBe('fenced');
    expect(await places(harness)).not.toContain('4.0');
  });
});

describe('a feed that is reset', () => {
  it.each([
    [{ kind: 'version', version: 2 }, ['2.0', '2.1', '2.3', '3.0'], { again: { from: 2, until: 4 }, left: undefined }],
    [{ kind: 'timestamp', timestampMs: 1_700_000_001_500 }, ['2.0', '2.1', '2.3', '3.0'], { again: { from: 2, until: 4 } }],
    [{ kind: 'earliest' }, ['0.0', '0.1', '0.2', '0.3', '0.4', '2.0', '2.1', '2.3', '3.0'], { again: { from: 0, until: 4 } }],
    [{ kind: 'latest' }, [], { again: undefined, left: undefined }],
    [{ kind: 'snapshot' }, ['3.0s', '3.1s'], { again: undefined, left: undefined }],
  ] as const)('to %o goes on there, and its plan says so', async (target, expected, plan) => {
    const harness = new FeedHarness();
    await fillTable(harness);
    await harness.table.setLive([{ kind: 'insert', rows: [{ id: 1 }, { id: 7 }] }]);
    await harness.catchUp(spec);
    const before = await places(harness);
    expect(await reset(harness, target)).toMatchObject(plan);
    await harness.catchUp(spec);
    expect((await places(harness)).slice(before.length)).toEqual(expected);
  });

  it('out of a snapshot to what comes says how many of its rows are left', async () => {
    const harness = new FeedHarness();
    await fillTable(harness);
    await harness.table.setLive([{ kind: 'insert', rows: [1, 3, 4, 5, 6].map((id) => ({ id })) }]);
    const dying = harness.start({ ...spec, start: { kind: 'snapshot' }, maxTransactionRows: 2 }, (name) => {
      if (name !== 'after-transaction') return Promise.resolve();
      harness.crashNewest();
      return Promise.reject(new Error('crash'));
    });
    await dying.ended;
    expect(await reset(harness, { kind: 'latest' })).toMatchObject({ leftOfSnapshot: { version: 3 } });
    expect(await reset(harness, { kind: 'latest' })).toMatchObject({ leftOfSnapshot: undefined });
  });

  it('forward says which versions are left out', async () => {
    const harness = new FeedHarness();
    await fillTable(harness);
    await harness.catchUp(spec);
    for (const id of [8, 9]) await harness.table.commit([{ kind: 'insert', rows: [{ id }] }]);
    expect(await reset(harness, { kind: 'version', version: 5 })).toMatchObject({ left: { from: 4, until: 5 }, again: undefined });
    await harness.catchUp(spec);
    expect((await places(harness)).slice(-2)).toEqual(['3.0', '5.0']);
  });

  it('while it is published has the reset, not the position of the publisher', async () => {
    const harness = new FeedHarness();
    await fillTable(harness);
    const running = harness.start(spec);
    await running.feed.drain(harness.table.latestVersion);
    await reset(harness, { kind: 'version', version: 3 });
    await harness.table.commit([{ kind: 'insert', rows: [{ id: 8 }] }]);
    harness.events.committed('orders', harness.table.latestVersion);
    expect((await running.ended).state).toBe('fenced');
    expect((await storedOf(harness))?.stored?.position).toMatchObject({ version: 2, complete: true });
    await harness.catchUp(spec);
    expect((await places(harness)).slice(-2)).toEqual(['3.0', '4.0']);
  });

  it('gets out of a gap, of a topic that was replaced and of a lost position', async () => {
    const harness = new FeedHarness();
    await fillTable(harness);
    await harness.catchUp(spec);
    await harness.broker.client('admin').admin.deleteTopic(spec.topic);
    const replaced = harness.start(spec);
    expect((await replaced.ended).state).toBe('replaced');
    await reset(harness, { kind: 'version', version: 3 });
    await harness.catchUp(spec);
    expect(await places(harness)).toEqual(['3.0']);
    await harness.broker.client('admin').admin.deleteTopic(spec.positionsTopic);
    expect((await harness.start(spec).ended).state).toBe('lost');
    await reset(harness, { kind: 'latest' });
    await harness.table.commit([{ kind: 'insert', rows: [{ id: 8 }] }]);
    await harness.catchUp(spec);
    expect(await places(harness)).toEqual(['3.0', '4.0']);
  });

  it('to what cannot be read is refused, and nothing changes', async () => {
    const harness = new FeedHarness();
    await fillTable(harness);
    await harness.catchUp(spec);
    harness.table.lose(1);
    const stored = await storedOf(harness);
    for (const version of [1, 9])
      await expect(reset(harness, { kind: 'version', version })).rejects.toMatchObject({ code: 'FEED_RESET_INVALID' });
    expect(await storedOf(harness)).toEqual(stored);
  });
});

it('a feed that is dropped is forgotten', async () => {
  const harness = new FeedHarness();
  await fillTable(harness);
  await harness.catchUp(spec);
  await operatorOf(harness).pause(spec);
  await operatorOf(harness).drop(spec);
  expect(await storedOf(harness)).toBeUndefined();
});

it('an act is noticed once by whoever watches, also in a topic that was made anew', async () => {
  const harness = new FeedHarness();
  const store = new PositionStore({ client: harness.reader, clock: harness.clock, topic: spec.positionsTopic });
  const acts = new OperatorActs({ store, clock: harness.clock, pollIntervalMs: 1000, onError: () => undefined });
  const stopping = new AbortController();
  const running = acts.run(stopping.signal);
  const fired = async (act: () => Promise<void>): Promise<void> => {
    const next = acts.next(feedId);
    const other = acts.next('demo/orders/other');
    await harness.clock.sleep(1000);
    await act();
    while (!next.aborted) await harness.clock.sleep(1000);
    expect([other.aborted, acts.next(feedId).aborted]).toEqual([false, false]);
  };
  await fired(() => operatorOf(harness).pause(spec));
  await fired(() => operatorOf(harness).resume(spec));
  await harness.broker.client('admin').admin.deleteTopic(spec.positionsTopic);
  await fired(() =>
    operatorOf(harness).reset(spec, { version: toVersion(0), ordinal: 0, complete: true, snapshot: false, tableId: 't', order: '[]' }),
  );
  stopping.abort();
  await running;
});
