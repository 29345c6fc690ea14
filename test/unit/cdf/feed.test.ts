import { describe, expect, it } from 'vitest';
import { present } from '../../../src/base/assert.ts';
import type { FailpointName } from '../../../src/base/failpoint.ts';
import { SystemClock } from '../../../src/base/system-clock.ts';
import type { FeedSpec } from '../../../src/cdf/feed-spec.ts';
import { PositionStore } from '../../../src/cdf/position-store.ts';
import { toVersion } from '../../../src/table/version.ts';
import type { BrokerOperation } from '../../support/kafka/memory-faults.ts';
import { ordersSchema } from './change-table.ts';
import { FeedHarness, feedSpec, fillTable, text } from './feed-harness.ts';

async function expectedTexts(spec: Partial<FeedSpec> = {}): Promise<readonly string[]> {
  const harness = new FeedHarness();
  await fillTable(harness);
  await harness.catchUp(spec);
  return harness.publishedTexts();
}

async function positionOf(harness: FeedHarness): Promise<unknown> {
  const store = new PositionStore({ client: harness.reader, clock: harness.clock, topic: feedSpec.positionsTopic });
  return (await store.readAll()).get('demo/orders/cdf.orders')?.stored?.position;
}

describe('Feed', () => {
  it('publishes every change once, in order, with the position in the same transaction', async () => {
    const harness = new FeedHarness();
    await fillTable(harness);
    const running = await harness.catchUp({ partitions: 1 });
    const seen = (await harness.published()).map((record) => {
      const headers = Object.fromEntries(record.headers.map(([name, value]) => [name, text(value)]));
      const op = /"op":"(.)"/.exec(text(record.value))?.[1] ?? 'tombstone';
      return `${headers['version'] ?? ''}.${headers['ordinal'] ?? ''} ${op} ${text(record.key)}`;
    });
    expect(seen).toEqual([
      '0.0 c {"id":1}',
      '0.1 c {"id":2}',
      '0.2 c {"id":3}',
      '0.3 c {"id":4}',
      '0.4 c {"id":5}',
      '2.0 d {"id":2}',
      '2.0 tombstone {"id":2}',
      '2.1 u {"id":1}',
      '2.3 c {"id":6}',
      '3.0 c {"id":7}',
    ]);
    expect(await positionOf(harness)).toEqual({
      version: 3,
      ordinal: 1,
      complete: true,
      snapshot: false,
      tableId: 'table-1',
      order: '["id"]',
      keys: 'id integer',
    });
    expect(running.feed.status()).toMatchObject({ state: 'stopped', lagVersions: 0, error: undefined });
  });

  it('follows commits while it runs', async () => {
    const harness = new FeedHarness();
    await harness.table.commit([{ kind: 'insert', rows: [{ id: 1 }] }]);
    const running = harness.start();
    await running.feed.drain(toVersion(0));
    for (let version = 1; version < 5; version++) {
      await harness.table.commit([{ kind: 'insert', rows: [{ id: version }] }]);
      harness.events.committed('orders', toVersion(version));
      await running.feed.drain(toVersion(version));
    }
    expect((await harness.published()).length).toBe(5);
    expect((await running.stop()).state).toBe('stopped');
  });

  it('puts small versions into one transaction and cuts large ones', async () => {
    const harness = new FeedHarness();
    await fillTable(harness);
    const together = await harness.catchUp({ maxTransactionRows: 1000 });
    expect(together.log.filter((line) => line === 'transaction committed').length).toBe(1);
    const apart = new FeedHarness();
    await fillTable(apart);
    const cut = await apart.catchUp({ maxTransactionRows: 1 });
    expect(cut.log.filter((line) => line === 'transaction committed').length).toBeGreaterThan(8);
    expect(await apart.publishedTexts()).toEqual(await harness.publishedTexts());
  });

  it('begins with a snapshot and goes on with changes', async () => {
    const harness = new FeedHarness();
    await fillTable(harness);
    await harness.table.setLive([
      { kind: 'insert', rows: [1, 3, 4].map((id) => ({ id })) },
      { kind: 'insert', rows: [5, 6, 7].map((id) => ({ id })) },
    ]);
    const running = harness.start({ start: { kind: 'snapshot' }, maxTransactionRows: 2 });
    await running.feed.drain(toVersion(3));
    await harness.table.commit([{ kind: 'insert', rows: [{ id: 8 }] }]);
    harness.events.committed('orders', toVersion(4));
    await running.feed.drain(toVersion(4));
    await running.stop();
    const operations = (await harness.publishedTexts()).map((line) => /"op":"(.)"/.exec(line)?.[1]).toSorted();
    expect(operations).toEqual(['c', 'r', 'r', 'r', 'r', 'r', 'r']);
    const states = running.log.filter((line) => !line.startsWith('transaction'));
    expect(states.slice(0, 7)).toEqual([
      'bootstrapping',
      'publishing',
      'bootstrapping',
      'publishing',
      'bootstrapping',
      'publishing',
      'following',
    ]);
  });

  it('resumes inside a snapshot of the version it began with', async () => {
    const harness = new FeedHarness();
    await fillTable(harness);
    await harness.table.setLive([{ kind: 'insert', rows: [1, 2, 3, 4, 5].map((id) => ({ id })) }]);
    const spec = { start: { kind: 'snapshot' }, maxTransactionRows: 2 } as const;
    let published = 0;
    const first = harness.start(spec, (name) => {
      if (name !== 'after-transaction') return Promise.resolve();
      published += 1;
      if (published < 2) return Promise.resolve();
      harness.crashNewest();
      return Promise.reject(new Error('crash'));
    });
    expect((await first.ended).state).toBe('failed');
    await harness.table.commit([{ kind: 'insert', rows: [{ id: 6 }] }]);
    await harness.catchUp(spec);
    const keys = (await harness.published()).map((record) => text(record.key)).toSorted();
    expect(keys).toEqual([1, 2, 3, 4, 5, 6].map((id) => `{"id":${id}}`));
  });

  const operations: readonly BrokerOperation[] = [
    'metadata',
    'create-topics',
    'offsets',
    'fetch',
    'open-transactional',
    'add-partitions',
    'produce',
    'end-transaction',
  ];
  for (const operation of operations) {
    for (const when of ['before', 'after'] as const) {
      it(`publishes exactly once when ${operation} fails ${when} it is applied, at any moment`, async () => {
        const expected = await expectedTexts();
        for (let afterRequests = 0; afterRequests < 8; afterRequests++) {
          const harness = new FeedHarness();
          await fillTable(harness);
          harness.broker.inject({ operation, when, afterRequests, clientId: 'feed-1' });
          const running = await harness.catchUp();
          expect(running.feed.status().state).toBe('stopped');
          expect(await harness.publishedTexts(), `after ${afterRequests} requests`).toEqual(expected);
        }
      });
    }
  }

  it('learns from the position that a transaction with a lost answer landed', async () => {
    const harness = new FeedHarness();
    await fillTable(harness);
    // The first end of a transaction is that of the barrier.
    harness.broker.inject({ operation: 'end-transaction', when: 'after', afterRequests: 1, clientId: 'feed-1' });
    const running = await harness.catchUp();
    expect(running.log).toContain('transaction unknown');
    expect(running.log).toContain('resolved landed');
  });

  const failpoints: readonly FailpointName[] = [
    'before-transaction',
    'within-transaction',
    'before-transaction-end',
    'transaction-end-applied',
    'after-transaction',
  ];
  for (const armed of failpoints) {
    it(`publishes exactly once when the process dies at ${armed}, at any run`, async () => {
      const expected = await expectedTexts();
      for (let survived = 0; survived < 4; survived++) {
        const harness = new FeedHarness();
        await fillTable(harness);
        let visits = 0;
        const die = (name: FailpointName): Promise<void> => {
          if (name !== armed || visits++ !== survived) return Promise.resolve();
          harness.crashNewest();
          return Promise.reject(new Error('crash'));
        };
        harness.brokerFailpoint = die;
        const controller = harness.start({}, die);
        await Promise.race([controller.ended, waitUntil(() => visits > survived)]);
        await harness.catchUp();
        await controller.stop();
        expect(await harness.publishedTexts(), `died at visit ${survived}`).toEqual(expected);
      }
    });
  }

  it('resumes from every ordinal a stopped feed may have reached', async () => {
    const expected = await expectedTexts();
    for (let transactions = 1; transactions < 10; transactions++) {
      const harness = new FeedHarness();
      await fillTable(harness);
      let committed = 0;
      const first = harness.start({ maxTransactionRows: 1 }, (name) => {
        if (name === 'after-transaction') committed += 1;
        if (committed < transactions) return Promise.resolve();
        harness.crashNewest();
        return Promise.reject(new Error('crash'));
      });
      await Promise.race([first.ended, first.feed.drain(toVersion(3)).catch(() => undefined)]);
      await harness.catchUp({ maxTransactionRows: transactions });
      await first.stop();
      expect(await harness.publishedTexts()).toEqual(expected);
    }
  });

  it('is fenced by a second instance and publishes nothing more', async () => {
    const harness = new FeedHarness();
    await fillTable(harness);
    const first = harness.start();
    await first.feed.drain(toVersion(3));
    const second = harness.start();
    await second.feed.drain(toVersion(3));
    await harness.table.commit([{ kind: 'insert', rows: [{ id: 8 }] }]);
    harness.events.committed('orders', toVersion(4));
    await second.feed.drain(toVersion(4));
    const status = await first.ended;
    expect(status.state).toBe('fenced');
    await second.stop();
    expect((await harness.published()).length).toBe(11);
  });

  it('sees its own position although another feed holds a transaction open', async () => {
    // All feeds share the positions topic. What is committed after another feed's transaction began stays hidden from read_committed
    // readers until that one ends: a feed that took the visible end for the end would publish rows twice.
    const harness = new FeedHarness();
    await fillTable(harness);
    const first = harness.start();
    await first.feed.drain(toVersion(3));
    let release: () => void = () => undefined;
    harness.brokerFailpoint = (name) =>
      name === 'before-transaction-end' ? new Promise((resolve) => (release = resolve)) : Promise.resolve();
    const other = harness.broker.client('other');
    const store = new PositionStore({ client: other, clock: harness.clock, topic: feedSpec.positionsTopic });
    const producer = await other.openTransactional({ transactionalId: 'other' });
    const held = producer.publish([store.encodeBarrier('other', 'token')]);
    await pause(5);
    harness.brokerFailpoint = () => Promise.resolve();
    await harness.table.commit([{ kind: 'insert', rows: [{ id: 8, name: 'v4-8' }] }]);
    harness.events.committed('orders', toVersion(4));
    await first.feed.drain(toVersion(4));
    await first.stop();
    const second = harness.start();
    await pause(20);
    release();
    await held;
    await second.feed.drain(toVersion(4));
    await second.stop();
    const records = await harness.published();
    expect(records.filter((record) => text(record.key) === '{"id":8}').length).toBe(1);
    expect(records.length).toBe(11);
  });

  it('stays in state gap under policy fail, keeping its position', async () => {
    const harness = new FeedHarness();
    await fillTable(harness);
    harness.table.lose(2);
    const running = harness.start({ maxTransactionRows: 100, start: { kind: 'version', version: 0 } });
    const status = await running.ended;
    expect(status).toMatchObject({ state: 'gap', position: { version: 1, complete: true }, error: { code: 'CDF_GAP' } });
    expect(running.log).toContain('gap 2 fail');
    await expect(running.feed.drain(toVersion(3))).rejects.toMatchObject({ code: 'FEED_ENDED' });
  });

  it('publishes all before a version that its settings do not fit, so that other settings take over there', async () => {
    const harness = new FeedHarness();
    await fillTable(harness);
    const [id, name] = ordersSchema.fields;
    harness.table.alter({ kind: 'struct', fields: [{ ...present(id, 'id'), name: 'number' }, present(name, 'name')] });
    await harness.table.commit([{ kind: 'insert', rows: [{ number: 8, name: 'v4-8' }] }]);
    const status = await harness.start({ maxTransactionRows: 100 }).ended;
    expect(status).toMatchObject({
      state: 'failed',
      position: { version: 3, complete: true },
      error: { code: 'CDF_KEY_COLUMN_UNKNOWN', message: expect.stringMatching(/^version 4 of table "orders": key column "id"/) as string },
    });
    const spec = { keyColumns: ['number'], maxTransactionRows: 100 };
    await harness.reset({ kind: 'current' }, spec);
    await harness.catchUp(spec);
    expect((await harness.published()).filter((record) => text(record.key) === '{"number":8}').length).toBe(1);
    expect((await harness.published()).length).toBe(11);
  });

  it('leaves out missing versions under policy skip', async () => {
    const harness = new FeedHarness();
    await fillTable(harness);
    harness.table.lose(2);
    const running = await harness.catchUp({ onGap: 'skip', start: { kind: 'version', version: 0 } });
    expect(running.log).toContain('gap 2 skip');
    expect((await harness.published()).map((record) => text(record.key)).toSorted()).toEqual(
      [1, 2, 3, 4, 5, 7].map((id) => `{"id":${id}}`),
    );
  });

  it('publishes a fresh snapshot under policy resnapshot, also when files were vacuumed', async () => {
    const harness = new FeedHarness();
    await fillTable(harness);
    await harness.table.setLive([{ kind: 'insert', rows: [{ id: 1 }, { id: 7 }] }]);
    await harness.table.deleteFiles(2);
    const running = await harness.catchUp({ onGap: 'resnapshot' });
    expect(running.log).toContain('gap 2 resnapshot');
    const texts = await harness.publishedTexts();
    expect(texts.filter((line) => line.includes('"op":"r"')).length).toBe(2);
  });

  it('starts at the oldest readable version', async () => {
    const harness = new FeedHarness();
    await fillTable(harness);
    harness.table.lose(0, 'CDF_NOT_ENABLED');
    await harness.catchUp({ start: { kind: 'earliest' } });
    expect((await harness.publishedTexts()).some((line) => line.includes('version=0'))).toBe(false);
    expect((await harness.published()).length).toBe(5);
  });

  it('refuses a table that was replaced and a log that was put back', async () => {
    const harness = new FeedHarness();
    await fillTable(harness);
    await harness.catchUp();
    harness.table.tableId = 'table-2';
    const replaced = await harness.start().ended;
    expect(replaced).toMatchObject({ state: 'table-replaced', error: { code: 'FEED_TABLE_REPLACED', kind: 'discontinuity' } });
    harness.table.tableId = 'table-1';
    harness.table.putBack(toVersion(2));
    const ahead = await harness.start().ended;
    expect(ahead).toMatchObject({ state: 'failed', error: { code: 'FEED_POSITION_AHEAD', kind: 'discontinuity' } });
  });

  it('refuses other key columns in the middle of a version only', async () => {
    const harness = new FeedHarness();
    await fillTable(harness);
    const first = harness.start({ maxTransactionRows: 2 }, (name) => {
      if (name !== 'after-transaction') return Promise.resolve();
      harness.crashNewest();
      return Promise.reject(new Error('crash'));
    });
    await first.ended;
    const refused = await harness.start({ keyColumns: ['name'] }).ended;
    expect(refused).toMatchObject({ state: 'changed', error: { code: 'FEED_ORDER_CHANGED' } });
    await expect(harness.reset({ kind: 'current' }, { keyColumns: ['name'] })).rejects.toMatchObject({ code: 'FEED_RESET_INVALID' });
    await harness.catchUp();
    await harness.reset({ kind: 'current' }, { keyColumns: ['name'] });
    await harness.table.commit([{ kind: 'insert', rows: [{ id: 8, name: 'n' }] }]);
    await harness.catchUp({ keyColumns: ['name'] });
    expect((await harness.published()).map((record) => text(record.key))).toContain('{"name":"n"}');
    expect(await positionOf(harness)).toMatchObject({ version: 4, order: '["name"]' });
  });
});

async function waitUntil(condition: () => boolean): Promise<void> {
  while (!condition()) await pause(1);
}

function pause(durationMs: number): Promise<void> {
  return new SystemClock().sleep(durationMs);
}
