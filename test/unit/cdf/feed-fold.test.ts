import { afterAll, describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue, parseJson, printJson } from '../../../src/base/bigint-json.ts';
import type { FailpointName } from '../../../src/base/failpoint.ts';
import { type Random, randomInt } from '../../../src/base/random.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { SystemClock } from '../../../src/base/system-clock.ts';
import type { FeedSpec } from '../../../src/cdf/feed-spec.ts';
import type { KafkaRecord } from '../../../src/kafka/client.ts';
import { openTestEngine, type TestEngine } from '../../support/test-engine.ts';
import type { FileRows } from './change-table.ts';
import { FeedHarness, text } from './feed-harness.ts';

const seeds = Array.from({ length: 25 }, (_, index) => 1000 + index);
const failpoints: readonly FailpointName[] = [
  'before-transaction',
  'within-transaction',
  'before-transaction-end',
  'transaction-end-applied',
  'after-transaction',
];

interface Row {
  readonly id: number;
  readonly name: string;
}

/** One random version over the model's rows, which it changes: keys stay unique, as an upsert keeps them. */
function randomVersion(random: Random, model: Map<number, Row>, label: string): readonly FileRows[] {
  const choice = randomInt(random, 4);
  if (choice === 0) return [];
  const existing = [...model.values()];
  const touched = existing.filter(() => random.next() < 0.3);
  const added = Array.from({ length: randomInt(random, 4) }, (_, index) => ({
    id: 1000 * model.size + randomInt(random, 1000),
    name: `${label}+${index}`,
  }));
  const fresh = added.filter((row, index) => !model.has(row.id) && added.findIndex((other) => other.id === row.id) === index);
  if (choice === 1) {
    for (const row of fresh) model.set(row.id, row);
    return [{ kind: 'insert', rows: fresh.map(plain), counted: random.next() < 0.5 }];
  }
  const updated = touched.filter(() => random.next() < 0.7);
  const removed = touched.filter((row) => !updated.includes(row));
  const after = updated.map((row) => ({ ...row, name: `${label}:${row.id}` }));
  for (const row of removed) model.delete(row.id);
  for (const row of [...after, ...fresh]) model.set(row.id, row);
  if (choice === 2) {
    // A rewrite without recorded changes: the files' rows go away, what is left of them comes back.
    return [
      { kind: 'delete', rows: touched.map(plain) },
      { kind: 'insert', rows: [...after, ...fresh].map(plain) },
    ];
  }
  const images = updated.flatMap((row, index) => [changed(row, 'update_preimage'), changed(after[index] ?? row, 'update_postimage')]);
  const rows = [...images, ...removed.map((row) => changed(row, 'delete')), ...fresh.map((row) => changed(row, 'insert'))];
  return spread(random, random.next() < 0.5 ? rows : shuffled(random, rows));
}

function plain(row: Row): { readonly id: number; readonly name: string } {
  return { id: row.id, name: row.name };
}

function changed(row: Row, changeType: string): Row & { readonly _change_type: string } {
  return { ...row, _change_type: changeType };
}

function shuffled<T>(random: Random, items: readonly T[]): readonly T[] {
  return items
    .map((item) => ({ item, order: random.next() }))
    .toSorted((left, right) => left.order - right.order)
    .map(({ item }) => item);
}

function spread(random: Random, rows: readonly (Row & { readonly _change_type: string })[]): readonly FileRows[] {
  const cut = randomInt(random, rows.length + 1);
  return [rows.slice(0, cut), rows.slice(cut)]
    .filter((part) => part.length > 0)
    .map((part) => ({ kind: 'recorded', rows: part.map((row) => ({ ...row })) }));
}

async function publishWithCrashes(harness: FeedHarness, random: Random, spec: Partial<FeedSpec>): Promise<void> {
  for (let crashes = randomInt(random, 4); crashes > 0; crashes--) {
    const armed = failpoints[randomInt(random, failpoints.length)];
    let visitsLeft = randomInt(random, 3);
    const die = (name: FailpointName): Promise<void> => {
      if (name !== armed || visitsLeft-- > 0) return Promise.resolve();
      harness.crashNewest();
      return Promise.reject(new Error(`crash at ${name}`));
    };
    harness.brokerFailpoint = die;
    const running = harness.start(spec, die);
    const drained = running.feed.drain(harness.table.latestVersion).catch(() => undefined);
    await Promise.race([drained, running.ended, new SystemClock().sleep(200)]);
    // From here on the newest process is the next one: this one, if it is late, must not take it down.
    visitsLeft = Number.POSITIVE_INFINITY;
    harness.brokerFailpoint = () => Promise.resolve();
    await harness.catchUp(spec);
    await running.stop();
  }
  await harness.catchUp(spec);
}

/** Where the images of a row are in a value of each envelope. */
const shapes: readonly (Pick<FeedSpec, 'envelope' | 'schemas'> & { readonly imagesIn?: string })[] = [
  { envelope: 'debezium', schemas: false },
  { envelope: 'debezium', schemas: true, imagesIn: 'payload' },
  { envelope: 'cloudevents', schemas: false, imagesIn: 'data' },
];

function objectIn(bytes: Uint8Array | undefined, member: string | undefined): JsonObject | undefined {
  const whole = bytes === undefined ? undefined : parseJson(text(bytes), 'event');
  const part = member !== undefined && isJsonObject(whole) ? whole[member] : whole;
  return isJsonObject(part) ? part : undefined;
}

/** What a consumer of a compacted topic ends up with. */
function foldByKey(
  records: readonly KafkaRecord[],
  afterOf: (record: KafkaRecord) => JsonValue | undefined,
): ReadonlyMap<string, JsonValue> {
  const rows = new Map<string, JsonValue>();
  for (const record of records) {
    const after = afterOf(record) ?? null;
    if (after === null) rows.delete(text(record.key));
    else rows.set(text(record.key), after);
  }
  return rows;
}

/** What a consumer without keys ends up with: each event takes one row away or adds one, or both. */
function foldRows(records: readonly KafkaRecord[], eventOf: (record: KafkaRecord) => JsonObject | undefined): readonly string[] {
  const counts = new Map<string, number>();
  const add = (row: JsonValue | undefined, count: number): void => {
    if (row === undefined || row === null) return;
    counts.set(printJson(row), (counts.get(printJson(row)) ?? 0) + count);
  };
  for (const record of records) {
    const event = eventOf(record);
    add(event?.['before'], -1);
    add(event?.['after'], 1);
  }
  return [...counts].flatMap(([row, count]) => Array.from({ length: count }, () => row)).toSorted();
}

async function publishRandomly(random: Random, harness: FeedHarness, spec: Partial<FeedSpec>): Promise<readonly string[]> {
  const model = new Map<number, Row>();
  for (let round = 0; round < 3; round++) {
    for (let versions = 1 + randomInt(random, 4); versions > 0; versions--) {
      await harness.table.commit(randomVersion(random, model, `${round}.${versions}`));
    }
    await publishWithCrashes(harness, random, spec);
  }
  return [...model.values()].map((row) => printJson({ id: row.id, name: row.name })).toSorted();
}

const shared: TestEngine = await openTestEngine();
afterAll(() => shared.close());

describe('the published topic', () => {
  for (const seed of seeds) {
    it(`folds to the table after random versions and crashes, each row once (seed ${seed})`, async () => {
      const random = new SeededRandom(seed);
      const harness = new FeedHarness();
      const keyed = random.next() < 0.7;
      const spec = { keyColumns: keyed ? ['id'] : [], maxTransactionRows: 1 + randomInt(random, 6), partitions: 1 + randomInt(random, 3) };
      const { imagesIn, ...shape } = shapes[seed % shapes.length] ?? { envelope: 'debezium', schemas: false };
      const rows = await publishRandomly(random, harness, { ...spec, ...shape });
      const records = await harness.published();
      const eventOf = ({ value }: KafkaRecord): JsonObject | undefined => objectIn(value, imagesIn);
      if (keyed) {
        const folded = foldByKey(records, (record) => eventOf(record)?.['after']);
        expect([...folded.values()].map(printJson).toSorted()).toEqual(rows);
      }
      expect(foldRows(records, eventOf)).toEqual(rows);
      const identities = records.map((record) => record.headers.map(([name, value]) => `${name}=${text(value)}`).join(' '));
      expect(new Set(identities).size).toBe(identities.length);
    });
  }

  it.each(seeds.slice(0, 8))('is, of a feed with a condition, the rows of which it is true (seed %i)', async (seed) => {
    const random = new SeededRandom(seed);
    const harness = new FeedHarness();
    harness.openEngine = () => Promise.resolve(shared.engine);
    const spec = { where: "id % 2 = 0 OR name LIKE '1.%:%'", keyColumns: ['id'], maxTransactionRows: 1 + randomInt(random, 6) };
    const rows = (await publishRandomly(random, harness, spec)).filter((row) => /"id":\d*[02468],|"name":"1\..*:/.test(row));
    const records = await harness.published();
    const eventOf = ({ value }: KafkaRecord): JsonObject | undefined => objectIn(value, undefined);
    expect([...foldByKey(records, (record) => eventOf(record)?.['after']).values()].map(printJson).toSorted()).toEqual(rows);
    expect(foldRows(records, eventOf)).toEqual(rows);
  });

  it.each([false, true])(
    'is, in envelope after, the table itself to whoever keeps the last value of each key (schemas: %s)',
    async (schemas) => {
      for (const seed of seeds.slice(0, 6)) {
        const random = new SeededRandom(seed);
        const harness = new FeedHarness();
        const spec = { envelope: 'after', schemas, keyColumns: ['id'], maxTransactionRows: 4 } as const;
        const rows = await publishRandomly(random, harness, spec);
        const folded = foldByKey(await harness.published(), ({ value }) => objectIn(value, schemas ? 'payload' : undefined));
        expect([...folded.values()].map(printJson).toSorted()).toEqual(rows);
      }
    },
  );
});
