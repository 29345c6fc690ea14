import { describe, expect, it } from 'vitest';
import { present } from '../../../src/base/assert.ts';
import { parsePosition, printPosition } from '../../../src/cdf/feed-position.ts';
import { type FeedSpec, feedIdOf } from '../../../src/cdf/feed-spec.ts';
import { PositionStore } from '../../../src/cdf/position-store.ts';
import { recordFormOf } from '../../../src/cdf/record-form.ts';
import { type EventEncoding, plainRecords } from '../../../src/protocol/change-event.ts';
import { ordersSchema } from './change-table.ts';
import { FeedHarness, feedSpec, fillTable, text } from './feed-harness.ts';

const told = (encoding: EventEncoding): Partial<FeedSpec> => ({ records: { ...plainRecords, encoding } });

async function insert(harness: FeedHarness, ...ids: readonly number[]): Promise<void> {
  await harness.table.commit([{ kind: 'insert', rows: ids.map((id) => ({ id, name: 'x' })) }]);
}

async function storedIn(harness: FeedHarness) {
  const store = new PositionStore({ client: harness.reader, clock: harness.clock, topic: feedSpec.positionsTopic });
  return present((await store.readAll()).get(feedIdOf(feedSpec))?.stored, 'a position');
}

/** Partitions of the newest records of ids, in the order of the ids. */
async function partitionsOf(harness: FeedHarness, ids: readonly number[]): Promise<readonly (number | undefined)[]> {
  const records = await harness.published();
  return ids.map((id) => records.findLast(({ key }) => text(key) === `{"id":${id}}`)?.partition);
}

const ids = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];

describe('settings that make records of another form, on the same topic', () => {
  it.each<[string, Partial<FeedSpec>, RegExp]>([
    ['FEED_KEYS_CHANGED', { keyColumns: ['name'] }, /keyColumns was \["id"\] and is \["name"\]/],
    ['FEED_KEYS_CHANGED', { keyColumns: [] }, /keyEncoding was json and is not set/],
    ['FEED_KEYS_CHANGED', { records: { ...plainRecords, keyEncoding: 'avro' } }, /keyEncoding was json and is avro/],
    ['FEED_KEYS_CHANGED', { schemas: true }, /schemas was false and is true/],
    ['FEED_KEYS_CHANGED', { records: { ...plainRecords, times: 'isostring' } }, /timePrecision was text and is isostring/],
    ['FEED_VALUES_CHANGED', { envelope: 'flat' }, /envelope was debezium and is flat/],
    ['FEED_VALUES_CHANGED', { records: { ...plainRecords, encoding: 'avro', keyEncoding: 'json' } }, /encoding was json and is avro/],
  ])('end in state changed with %s: %o', async (code, change, what) => {
    const harness = new FeedHarness();
    await fillTable(harness);
    await harness.catchUp();
    const before = (await harness.published()).length;
    await insert(harness, 8);
    const refused = await harness.start(change).ended;
    expect(refused).toMatchObject({ state: 'changed', error: { code, kind: 'invalid', message: expect.stringMatching(what) as string } });
    expect((await harness.published()).length).toBe(before);
    await harness.reset({ kind: 'current' }, change);
    // The settings before are the other ones now.
    expect(await harness.start().ended).toMatchObject({ state: 'changed' });
    await harness.catchUp(change);
    expect((await harness.published()).length).toBe(before + 1);
  });

  it.each<Partial<FeedSpec>>([
    { select: ['id'] },
    { tombstones: false },
    { compression: 'gzip' },
    { records: { ...plainRecords, decimals: 'string', times: 'text' } },
    { records: { ...plainRecords, cloudEventMode: 'binary', subjectStrategy: 'record' } },
  ])('are nothing but: %o', async (change) => {
    const harness = new FeedHarness();
    await fillTable(harness);
    await harness.catchUp();
    await insert(harness, 8);
    await harness.catchUp(change);
  });

  it('are taken where the topic is another one', async () => {
    const harness = new FeedHarness();
    await fillTable(harness);
    await harness.catchUp();
    await harness.reader.admin.deleteTopic(feedSpec.topic);
    await insert(harness, 8);
    const { log } = await harness.catchUp({ keyColumns: ['name'], onTopicReplaced: 'continue' });
    expect(log).toContain('replaced continue');
  });
});

describe('a key column whose type changes', () => {
  const widened = (type: 'long' | 'integer') => {
    const [id, name] = ordersSchema.fields;
    return { kind: 'struct', fields: [{ ...present(id, 'id'), type: { kind: type } }, present(name, 'name')] } as const;
  };

  it.each(['avro', 'protobuf', 'json-schema'] as const)('ends the feed in %s before the version, until it is reset', async (encoding) => {
    const harness = new FeedHarness();
    harness.table.alter(widened('integer'));
    await insert(harness, 1, 2);
    await insert(harness, 3);
    harness.table.alter(widened('long'));
    await insert(harness, 4);
    const spec = told(encoding);
    const refused = await harness.start(spec).ended;
    expect(refused).toMatchObject({
      state: 'changed',
      position: { version: 1 },
      error: { code: 'FEED_KEYS_CHANGED', message: expect.stringMatching(/keys of version 2 .* of schema \d, .* of schema \d/) as string },
    });
    expect((await harness.published()).length).toBe(3);
    expect(await harness.start(spec).ended).toMatchObject({ state: 'changed' });
    await harness.reset({ kind: 'current' }, spec);
    await harness.catchUp(spec);
    expect((await harness.published()).length).toBe(4);
  });

  it('is none where its digits are the same', async () => {
    const harness = new FeedHarness();
    harness.table.alter(widened('integer'));
    await insert(harness, 1);
    harness.table.alter(widened('long'));
    await insert(harness, 1);
    await harness.catchUp();
    expect((await harness.published()).length).toBe(2);
    const [first, second] = await harness.published();
    expect([first?.partition, text(first?.key)]).toEqual([second?.partition, text(second?.key)]);
  });
});

it('a schema that the registry refuses is state waiting, and the feed goes on when it is taken', async () => {
  const harness = new FeedHarness();
  await insert(harness, 1);
  harness.subjects.refuses = 'READER_FIELD_MISSING_DEFAULT_VALUE';
  const running = harness.start(told('avro'));
  const { feed } = running;
  while (feed.status().state !== 'waiting') await harness.clock.sleep(100);
  expect(feed.status()).toMatchObject({ error: { code: 'FEED_SCHEMA_REFUSED' } });
  harness.subjects.refuses = undefined;
  await feed.drain(harness.table.latestVersion);
  expect((await harness.published()).length).toBe(1);
  expect((await running.stop()).state).toBe('stopped');
});

describe('partitions that are added to the topic', () => {
  it('stay empty, so that each key stays in its own, through starts', async () => {
    const harness = new FeedHarness();
    await insert(harness, ...ids);
    await harness.catchUp();
    const before = await partitionsOf(harness, ids);
    harness.broker.addPartitions(feedSpec.topic, 6);
    await insert(harness, ...ids);
    const { feed } = await harness.catchUp();
    expect(feed.status().partitions).toEqual({ partitions: 2, ofTopic: 6 });
    expect(await partitionsOf(harness, ids)).toEqual(before);
    await harness.reset({ kind: 'current' });
    await insert(harness, ...ids);
    await harness.catchUp();
    expect(new Set(await partitionsOf(harness, ids)).size).toBeGreaterThan(2);
  });

  it('are taken by feeds without keys', async () => {
    const harness = new FeedHarness();
    await insert(harness, 1, 2);
    await harness.catchUp({ keyColumns: [] });
    harness.broker.addPartitions(feedSpec.topic, 6);
    await insert(harness, ...ids);
    await harness.catchUp({ keyColumns: [] });
    expect(new Set((await harness.published()).map(({ partition }) => partition)).size).toBe(6);
  });
});

it('settings that change before the first record is published bind nobody', async () => {
  const harness = new FeedHarness();
  await harness.table.commit([]);
  await harness.catchUp(told('avro'));
  expect((await storedIn(harness)).form).toBeUndefined();
  await insert(harness, 1);
  await harness.catchUp();
  expect((await storedIn(harness)).form).toEqual(recordFormOf(feedSpec));
  await harness.table.commit([]);
  await harness.catchUp();
  expect((await storedIn(harness)).form).toEqual(recordFormOf(feedSpec));
});

describe('a position', () => {
  it('says how the rows before it were published', async () => {
    const harness = new FeedHarness();
    await insert(harness, 1);
    await harness.catchUp();
    const stored = await storedIn(harness);
    expect(stored).toMatchObject({ partitions: 2, form: recordFormOf(feedSpec), position: { keys: 'id integer' } });
    const { position, ...as } = stored;
    expect(parsePosition(printPosition(position, as), 'f')).toEqual(stored);
  });

  it('of an older version of this product says nothing, and is accepted once', async () => {
    const harness = new FeedHarness();
    await insert(harness, 1);
    await harness.catchUp();
    const { position } = await storedIn(harness);
    const older = { ...position, keys: undefined };
    const store = new PositionStore({ client: harness.reader, clock: harness.clock, topic: feedSpec.positionsTopic });
    const producer = await harness.reader.producer();
    const { topicId, positionsTopicId } = await storedIn(harness);
    await producer.send([store.encode(feedIdOf(feedSpec), { position: older, topicId, positionsTopicId })]);
    await insert(harness, 2);
    await harness.catchUp({ envelope: 'flat' });
    expect((await storedIn(harness)).form).toMatchObject({ value: { envelope: 'flat' } });
  });
});
