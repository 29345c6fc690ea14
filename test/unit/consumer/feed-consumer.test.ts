import { describe, expect, it } from 'vitest';
import { ParquetChangeEncoder } from '../../../src/cdf/change-encoder.ts';
import { registeredSchema } from '../../../src/cdf/encoding/encodings.ts';
import type { InputRow } from '../../../src/codec/build-columns.ts';
import type { SchemasById } from '../../../src/consumer/index.ts';
import { type FeedChange, FeedConsumer, FeedDecoder, type FeedRecord, FeedRows, type KafkaJsBatch } from '../../../src/consumer/index.ts';
import { decodeRecords } from '../../../src/kafka/records/record-batch.ts';
import { type EncodeSpec, type EncodeTask, plainRecords } from '../../../src/protocol/change-event.ts';
import type { StructType } from '../../../src/schema/types.ts';
import type { VersionChanges } from '../../../src/table/changes.ts';
import { noEngine } from '../../support/no-engine.ts';
import { allTypes, fullRow } from '../cdf/all-types.ts';
import { ChangeTable, type FileRows } from '../cdf/change-table.ts';
import { ordersSpec } from '../cdf/orders-spec.ts';

interface Written {
  readonly records: readonly FeedRecord[];
  readonly registry: SchemasById;
}

/** Records of versions as a feed writes them, one behind the other. */
async function written(
  versions: readonly { readonly files: readonly FileRows[]; readonly snapshot?: boolean }[],
  more: Partial<EncodeSpec> = {},
  schema?: StructType,
): Promise<Written> {
  const table = new ChangeTable(schema);
  const encoder = new ParquetChangeEncoder({ openStore: table.openStore, openEngine: noEngine });
  const spec = { ...ordersSpec, ...more };
  const records: FeedRecord[] = [];
  const schemas = new Map<string, { readonly type: 'AVRO' | 'JSON' | 'PROTOBUF'; readonly text: string }>();
  for (const { files, snapshot = false } of versions) {
    const changes: VersionChanges = await table.commit(files);
    const task: EncodeTask = { spec, changes, snapshot, fromOrdinal: 0, maxRows: 100, maxBytes: 1e9, schemaIds: { key: 1, value: 2 } };
    for (const part of ['key', 'value'] as const) {
      const registered = registeredSchema(task, part);
      if (registered !== undefined) schemas.set(`ids/${part === 'key' ? 1 : 2}`, registered);
    }
    for (const batch of (await encoder.encode(task)).batches) {
      for (const { key, value, headers } of decodeRecords(batch.bytes, batch)) {
        records.push({
          topic: batch.topic,
          partition: batch.partition,
          offset: String(records.length),
          key: key === undefined ? null : Buffer.from(key),
          value: value === undefined ? null : Buffer.from(value),
          headers: Object.fromEntries(headers.map(([name, bytes]) => [name, Buffer.from(bytes)])),
        });
      }
    }
  }
  const schemaOf = (key: string) => {
    const found = schemas.get(key);
    return found === undefined ? undefined : { ...found, references: [] };
  };
  return { records, registry: { schema: (key) => Promise.resolve({ key, schema: schemaOf(key) }) } };
}

async function changesOf(records: readonly FeedRecord[], decoder: FeedDecoder): Promise<readonly FeedChange[]> {
  const changes: FeedChange[] = [];
  for (const record of records) {
    const change = await decoder.decode(record);
    if (change !== undefined) changes.push(change);
  }
  return changes;
}

const changed: readonly InputRow[] = [
  { id: 1, name: 'old', _change_type: 'update_preimage' },
  { id: 1, name: 'new', _change_type: 'update_postimage' },
  { id: 2, name: 'gone', _change_type: 'delete' },
  { id: 3, name: 'came', _change_type: 'insert' },
];
const history: readonly { readonly files: readonly FileRows[] }[] = [
  { files: [{ kind: 'insert', rows: [1, 2].map((id) => ({ id, name: id === 1 ? 'old' : 'gone' })) }] },
  { files: [{ kind: 'recorded', rows: changed }] },
];

describe('a client of a feed', () => {
  it.each([
    ['debezium', {}],
    ['debezium', { schemas: true }],
    ['flat', {}],
    ['after', {}],
    ['cloudevents', {}],
    ['cloudevents', { records: { ...plainRecords, encoding: 'avro', cloudEventMode: 'binary' } }],
    ['debezium', { records: { ...plainRecords, encoding: 'avro' } }],
    ['flat', { records: { ...plainRecords, encoding: 'json-schema' } }],
    ['after', { records: { ...plainRecords, encoding: 'avro', keyEncoding: 'json' } }],
  ] as const)('folds envelope %s (%j) into the rows of the table', async (envelope, more) => {
    const { records, registry } = await written(history, { ...more, envelope });
    const rows = new FeedRows();
    const changes = await changesOf(records, new FeedDecoder({ envelope, registry }));
    for (const change of changes) rows.apply(change);
    expect([...rows.rows.values()].toSorted((a, b) => Number(a['id']) - Number(b['id']))).toEqual([
      { id: 1, name: 'new' },
      { id: 3, name: 'came' },
    ]);
    expect(changes.map(({ operation, version }) => [operation, version])).toEqual([
      ['insert', 0n],
      ['insert', 0n],
      ['delete', 1n],
      ['update', 1n],
      ['insert', 1n],
    ]);
    if (envelope !== 'after')
      expect(changes[3]).toMatchObject({ key: { id: 1 }, before: { id: 1, name: 'old' }, after: { id: 1, name: 'new' } });
  });

  it('has the same values whatever the encoding', async () => {
    const rows = [fullRow, { ...fullRow, id: 2n ** 62n }, { id: 9n }];
    const values = [];
    for (const encoding of ['json', 'avro'] as const) {
      const { records, registry } = await written(
        [{ files: [{ kind: 'insert', rows }] }],
        { envelope: 'after', records: { ...plainRecords, encoding } },
        { kind: 'struct', fields: allTypes.fields.filter(({ name }) => name !== 'counts' && name !== 'place') },
      );
      values.push((await changesOf(records, new FeedDecoder({ envelope: 'after', registry }))).map(({ after }) => after));
    }
    expect(values[1]).toEqual(values[0]);
    expect(values[0]?.[1]).toMatchObject({ id: 2n ** 62n, price: '9.99', day: '1970-01-01', data: 'AQI=' });
  });

  it('passes over records that it read before, and only where it is told to', async () => {
    const { records } = await written(history);
    const repeated = [...records.slice(0, 3), ...records.slice(1)];
    expect(await changesOf(repeated, new FeedDecoder({ deduplicate: true }))).toHaveLength(5);
    expect((await changesOf(repeated, new FeedDecoder())).length).toBeGreaterThan(5);
  });

  it('lets go of rows that a later snapshot does not have', async () => {
    const first = { kind: 'insert', rows: [{ id: 1 }, { id: 2 }] } as const;
    const { records } = await written([
      { files: [first] },
      { files: [{ kind: 'insert', rows: [{ id: 2 }] }], snapshot: true },
      { files: [{ kind: 'insert', rows: [{ id: 3 }] }] },
    ]);
    const rows = new FeedRows();
    for (const change of await changesOf(records, new FeedDecoder())) rows.apply(change);
    expect([...rows.rows.keys()]).toEqual(['{"id":2}', '{"id":3}']);
  });

  it('refuses what no feed wrote, a schema without a registry, and rows without keys', async () => {
    const { records } = await written(history, { records: { ...plainRecords, encoding: 'avro' } });
    const [record] = records;
    if (record === undefined) throw new Error('a record was written');
    await expect(new FeedDecoder().decode(record)).rejects.toMatchObject({ code: 'CONSUMER_REGISTRY_MISSING' });
    await expect(new FeedDecoder().decode({ ...record, headers: {} })).rejects.toMatchObject({ code: 'CONSUMER_RECORD_FOREIGN' });
    await expect(new FeedDecoder().decode({ ...record, key: Buffer.from('7') })).rejects.toMatchObject({
      code: 'CONSUMER_PAYLOAD_INVALID',
    });
    const protobuf = await written(history, { records: { ...plainRecords, encoding: 'protobuf' } });
    await expect(changesOf(protobuf.records, new FeedDecoder({ registry: protobuf.registry }))).rejects.toMatchObject({
      code: 'CONSUMER_SCHEMA_UNKNOWN',
    });
    const unkeyed = await written(history, { keyColumns: [] });
    const [change] = await changesOf(unkeyed.records, new FeedDecoder());
    if (change === undefined) throw new Error('a change was written');
    expect(() => {
      new FeedRows().apply(change);
    }).toThrow(expect.objectContaining({ code: 'CONSUMER_KEY_MISSING' }));
  });
});

describe('a consumer of a feed', () => {
  it('stops at a record that nobody can read, and throws why to whoever waits for its end', async () => {
    const log: string[] = [];
    let taken: ((payload: KafkaJsBatch) => Promise<void>) | undefined;
    const done = (): Promise<void> => Promise.resolve();
    const stop = (): Promise<void> => {
      log.push('stopped');
      return done();
    };
    const consumer = new FeedConsumer({
      topic: 'cdf.orders',
      registry: { url: 'http://127.0.0.1:1' },
      consumer: {
        connect: done,
        stop,
        disconnect: done,
        subscribe: done,
        run: ({ eachBatch }) => {
          taken = eachBatch;
          return done();
        },
      },
      onChanges: () => {
        log.push('changes');
      },
    });
    await consumer.run();
    const message = { key: null, value: Buffer.from('{"not":"a feed"}'), headers: {}, offset: '0', timestamp: '0' };
    const payload: KafkaJsBatch = {
      batch: { topic: 'cdf.orders', partition: 0, messages: [message] },
      resolveOffset: (offset) => log.push(`resolved ${offset}`),
      heartbeat: done,
      commitOffsetsIfNecessary: done,
      isRunning: () => true,
      isStale: () => false,
    };
    await expect(taken?.(payload)).rejects.toMatchObject({ kind: 'invalid' });
    await expect(consumer.ended()).rejects.toMatchObject({ kind: 'invalid' });
    expect(log).toEqual(['stopped']);
  });

  it('gives the changes of a batch again when they were not taken, and commits behind those that were', async () => {
    const { records } = await written(history);
    const log: string[] = [];
    let taken: ((payload: KafkaJsBatch) => Promise<void>) | undefined;
    let fails = true;
    const done = (): Promise<void> => Promise.resolve();
    const consumer = new FeedConsumer({
      topic: 'cdf.orders',
      deduplicate: true,
      consumer: {
        connect: done,
        stop: done,
        disconnect: done,
        subscribe: done,
        run: ({ eachBatch }) => {
          taken = eachBatch;
          return done();
        },
      },
      onChanges: (changes) => {
        log.push(`${changes.length} changes`);
        if (fails) throw new Error('the database is down');
      },
    });
    await consumer.run();
    const payload: KafkaJsBatch = {
      batch: { topic: 'cdf.orders', partition: 0, messages: records },
      resolveOffset: (offset) => log.push(`resolved ${offset}`),
      heartbeat: done,
      commitOffsetsIfNecessary: () => {
        log.push('committed');
        return done();
      },
      isRunning: () => true,
      isStale: () => false,
    };
    await expect(taken?.(payload)).rejects.toThrow('the database is down');
    fails = false;
    await taken?.(payload);
    // What was taken is a repeat.
    await taken?.(payload);
    expect(log).toEqual(['5 changes', '5 changes', 'resolved 5', 'committed', 'resolved 5', 'committed']);
  });
});
