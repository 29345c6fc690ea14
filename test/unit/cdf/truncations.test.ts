import { describe, expect, it } from 'vitest';
import type { FailpointName } from '../../../src/base/failpoint.ts';
import { ParquetChangeEncoder } from '../../../src/cdf/change-encoder.ts';
import { registeredSchema } from '../../../src/cdf/encoding/encodings.ts';
import type { FeedSpec } from '../../../src/cdf/feed-spec.ts';
import { FeedDecoder } from '../../../src/consumer/feed-decoder.ts';
import { FeedRows } from '../../../src/consumer/feed-rows.ts';
import { decodeRecords } from '../../../src/kafka/records/record-batch.ts';
import { type EncodeTask, type EventEncoding, plainRecords } from '../../../src/protocol/change-event.ts';
import { toVersion } from '../../../src/table/version.ts';
import { noEngine } from '../../support/no-engine.ts';
import { ChangeTable, type FileRows } from './change-table.ts';
import { avroValue, protobufValue } from './decoded-values.ts';
import { FeedHarness, feedSpec, text } from './feed-harness.ts';
import { metadataOf, until } from './metadata/metadata-values.ts';
import { ordersSpec } from './orders-spec.ts';

const spec: Partial<FeedSpec> = { truncate: 'event', partitions: 1, maxTransactionRows: 2 };

const deletes: readonly FileRows[] = [
  { kind: 'delete', rows: [{ id: 1 }, { id: 2 }] },
  { kind: 'delete', rows: [{ id: 3 }], counted: false },
];

/** Three rows, an overwrite by two others, and a third. */
async function overwritten(): Promise<FeedHarness> {
  const harness = new FeedHarness();
  const { table } = harness;
  await table.commit([{ kind: 'insert', rows: [1, 2, 3].map((id) => ({ id, name: 'old' })) }]);
  table.empty(await table.commit([...deletes, { kind: 'insert', rows: [4, 5].map((id) => ({ id, name: 'new' })) }]));
  await table.commit([{ kind: 'insert', rows: [{ id: 6, name: 'new' }] }]);
  return harness;
}

async function eventsOf(harness: FeedHarness): Promise<readonly string[]> {
  return (await harness.published()).map(({ key, value, headers }) => {
    const [op, ordinal, rows] = ['op', 'ordinal', 'rows'].map((name) => text(headers.find(([header]) => header === name)?.[1]));
    return [op, ordinal, rows, text(key), value === undefined ? 'tombstone' : ''].join(' ').trim();
  });
}

const expected = [
  'c 0 null {"id":1}',
  'c 1 null {"id":2}',
  'c 2 null {"id":3}',
  't 0 3 null',
  'c 3 null {"id":4}',
  'c 4 null {"id":5}',
  'c 0 null {"id":6}',
];

describe('a version that empties the table', () => {
  it('is one event without a key, and what it adds keeps its numbers', async () => {
    const harness = await overwritten();
    await harness.catchUp(spec);
    expect(await eventsOf(harness)).toEqual(expected);
    const { value } = (await harness.published())[3] ?? {};
    expect(JSON.parse(text(value))).toMatchObject({ before: null, after: null, op: 't', source: { tableVersion: 1, seq: 0 } });
  });

  it('is a delete for each row unless it is asked for', async () => {
    const harness = await overwritten();
    await harness.catchUp({ ...spec, truncate: 'rows', tombstones: false });
    expect((await eventsOf(harness)).slice(3, 6)).toEqual(['d 0 null {"id":1}', 'd 1 null {"id":2}', 'd 2 null {"id":3}']);
  });

  it.each<FailpointName>(['before-transaction', 'before-transaction-end', 'transaction-end-applied', 'after-transaction'])(
    'is told once when the process dies at %s, at any run, and is one event of its transaction',
    async (armed) => {
      for (let survived = 0; survived < 5; survived++) {
        const harness = await overwritten();
        let visits = 0;
        const die = (point: FailpointName): Promise<void> => {
          if (point !== armed || visits++ !== survived) return Promise.resolve();
          harness.crashNewest();
          return Promise.reject(new Error('crash'));
        };
        harness.brokerFailpoint = die;
        const both = { ...spec, transactions: { topic: 'cdf.transaction' } };
        const running = harness.start(both, die);
        await Promise.race([running.ended, until(() => visits > survived), running.feed.drain(toVersion(2)).catch(() => undefined)]);
        harness.brokerFailpoint = () => Promise.resolve();
        await harness.catchUp(both);
        await running.stop();
        expect(await eventsOf(harness), `died at visit ${survived}`).toEqual(expected);
        const counts = (await metadataOf(harness, 'cdf.transaction')).map(({ value }) => value as { readonly event_count?: number });
        expect(counts.flatMap(({ event_count: count }) => count ?? [])).toEqual([3, 3, 1]);
      }
    },
  );

  it('is gone on with by rows where it was begun by rows', async () => {
    const harness = await overwritten();
    let committed = 0;
    const first = harness.start({ ...spec, truncate: 'rows', tombstones: false, maxTransactionRows: 1 }, (name) => {
      if (name !== 'after-transaction' || (committed += 1) < 4) return Promise.resolve();
      harness.crashNewest();
      return Promise.reject(new Error('crash'));
    });
    await first.ended;
    await harness.catchUp({ ...spec, tombstones: false });
    expect((await eventsOf(harness)).slice(3, 6)).toEqual(['d 0 null {"id":1}', 'd 1 null {"id":2}', 'd 2 null {"id":3}']);
  });

  it('is where a feed stood whose position is lost', async () => {
    const harness = await overwritten();
    let truncated = false;
    const first = harness.start({ ...spec, maxTransactionRows: 1 }, async (name) => {
      if (name !== 'after-transaction' || truncated) return;
      truncated = (await eventsOf(harness)).some((event) => event.startsWith('t'));
      if (!truncated) return;
      harness.crashNewest();
      throw new Error('crash');
    });
    await first.ended;
    await harness.reader.admin.deleteTopic(feedSpec.positionsTopic);
    await harness.catchUp({ ...spec, onLostPosition: 'recover' });
    expect(await eventsOf(harness)).toEqual(expected);
  });

  it('empties what a consumer folded', async () => {
    const harness = await overwritten();
    await harness.catchUp(spec);
    const [decoder, rows] = [new FeedDecoder(), new FeedRows()];
    const operations: string[] = [];
    for (const { key, value, headers, offset, partition } of await harness.published()) {
      const change = await decoder.decode({
        topic: 'cdf.orders',
        partition,
        offset: String(offset),
        key: key === undefined ? null : Buffer.from(key),
        value: value === undefined ? null : Buffer.from(value),
        headers: Object.fromEntries(headers.map(([name, bytes]) => [name, Buffer.from(bytes)])),
      });
      if (change === undefined) continue;
      operations.push(change.operation);
      rows.apply(change);
    }
    expect(operations).toEqual(['insert', 'insert', 'insert', 'truncate', 'insert', 'insert', 'insert']);
    expect([...rows.rows.values()].map(({ id }) => id)).toEqual([4, 5, 6]);
  });

  it.each([
    ['of several partitions', { partitions: 2 }],
    ['that is compacted', { topicConfig: { 'cleanup.policy': 'compact' } }],
  ])('is refused in a topic %s, loudly', async (_, more) => {
    const harness = await overwritten();
    const { state, error } = await harness.start({ ...spec, ...more }).ended;
    expect({ state, error }).toMatchObject({ state: 'failed', error: { code: 'FEED_TRUNCATE_UNFIT' } });
    expect(await harness.published()).toEqual([]);
  });
});

describe('the event of a truncation', () => {
  async function valueIn(
    encoding: EventEncoding,
    more: Partial<EncodeTask['spec']> = {},
  ): Promise<{ task: EncodeTask; value: Buffer; headers: Map<string, string> }> {
    const table = new ChangeTable();
    const changes = { ...(await table.commit(deletes)), empties: true };
    const records = { ...plainRecords, encoding, ...more.records };
    const task: EncodeTask = {
      spec: { ...ordersSpec, truncates: true, transactions: true, ...more, records },
      ...{ changes, snapshot: false, fromOrdinal: 0, maxRows: 10, maxBytes: 1e9, schemaIds: { key: 1, value: 2 } },
    };
    const { batches, rowsByOperation } = await new ParquetChangeEncoder({ openStore: table.openStore, openEngine: noEngine }).encode(task);
    expect(rowsByOperation).toEqual({ c: 0, u: 0, d: 0, r: 0, t: 1 });
    const [record] = batches.flatMap((batch) => decodeRecords(batch.bytes, batch));
    const headers = new Map(record?.headers.map(([name, bytes]) => [name, text(bytes)]));
    return { task, value: Buffer.from(record?.value ?? []), headers };
  }

  it('has neither image in Avro and Protobuf', async () => {
    const avro = await valueIn('avro');
    expect(avroValue(registeredSchema(avro.task, 'value')?.text ?? '', avro.value.subarray(5))).toMatchObject({
      ...{ before: null, after: null, op: 't' },
      transaction: { id: 'sales.orders:0', total_order: 1n, data_collection_order: 1n },
    });
    const protobuf = await valueIn('protobuf');
    const read = protobufValue(registeredSchema(protobuf.task, 'value')?.text ?? '', 'cdf.orders.Envelope', protobuf.value.subarray(5));
    expect(read).toMatchObject({ op: 't', transaction: { total_order: '1', data_collection_order: '1' } });
    expect([read['before'], read['after']]).toEqual([undefined, undefined]);
  });

  it('is a CloudEvent about the table', async () => {
    const structured = await valueIn('json', { envelope: 'cloudevents' });
    expect(JSON.parse(structured.value.toString())).toMatchObject({
      ...{ type: 'tidewater.table.truncated', op: 't', id: '0:0', data: { before: null, after: null } },
    });
    const binary = await valueIn('avro', {
      envelope: 'cloudevents',
      records: { ...plainRecords, encoding: 'avro', cloudEventMode: 'binary' },
    });
    expect(binary.headers.get('ce_type')).toBe('tidewater.table.truncated');
    expect(avroValue(registeredSchema(binary.task, 'value')?.text ?? '', binary.value.subarray(5))).toEqual({ before: null, after: null });
  });
});
