import { describe, expect, it } from 'vitest';
import type { FailpointName } from '../../../../src/base/failpoint.ts';
import type { FeedSpec } from '../../../../src/cdf/feed-spec.ts';
import { plainRecords } from '../../../../src/protocol/change-event.ts';
import type { Field, StructType } from '../../../../src/schema/types.ts';
import { toVersion } from '../../../../src/table/version.ts';
import { ordersSchema } from '../change-table.ts';
import { FeedHarness, fillTable } from '../feed-harness.ts';
import { metadataOf, until, withoutZeros } from './metadata-values.ts';

const topic = 'cdf.schema';
const spec: Partial<FeedSpec> = { schemaChanges: { topic }, partitions: 1, maxTransactionRows: 2 };

const price: Field = { name: 'price', type: { kind: 'decimal', precision: 10, scale: 2 }, nullable: true };
const wider: StructType = { kind: 'struct', fields: [...ordersSchema.fields, price] };

/** `fillTable`, a version that adds a column without rows, and one with a row of it. */
async function filled(): Promise<FeedHarness> {
  const harness = new FeedHarness();
  await fillTable(harness);
  harness.table.alter(wider);
  await harness.table.commit([]);
  await harness.table.commit([{ kind: 'insert', rows: [{ id: 8, price: '1.00' }] }]);
  return harness;
}

interface SchemaChange {
  readonly source: { readonly tableVersion: number };
  readonly tableChanges: readonly { readonly type: string; readonly table?: { readonly columns: readonly { readonly name: string }[] } }[];
}

/** Version, kind and columns of each change. */
async function toldOf(harness: FeedHarness): Promise<readonly string[]> {
  return (await metadataOf(harness, topic)).map(({ value }) => {
    const { source, tableChanges } = value as SchemaChange;
    const [change] = tableChanges;
    return [source.tableVersion, change?.type, ...(change?.table?.columns ?? []).map(({ name }) => name)].join(' ');
  });
}

const id = {
  name: 'id',
  jdbcType: -5,
  typeName: 'BIGINT',
  typeExpression: 'BIGINT',
  position: 1,
  optional: false,
  autoIncremented: false,
  generated: false,
};
const name = { ...id, name: 'name', jdbcType: 12, typeName: 'STRING', typeExpression: 'STRING', position: 2, optional: true };
const added = {
  ...name,
  name: 'price',
  jdbcType: 3,
  typeName: 'DECIMAL',
  typeExpression: 'DECIMAL(10,2)',
  length: 10,
  scale: 2,
  position: 3,
};

const recordOf = (version: number, type: string, columns: readonly unknown[]): unknown => ({
  key: { databaseName: 'default' },
  value: {
    source: {
      version: '1',
      connector: 'delta',
      name: 'demo',
      db: 'default',
      table: 'orders',
      ts_ms: 1_700_000_000_000 + version * 1000,
      snapshot: 'false',
      tableVersion: version,
      seq: 0,
    },
    ts_ms: 1_700_000_000_000 + version * 1000,
    databaseName: 'default',
    tableChanges: [{ type, id: '"default"."orders"', table: { primaryKeyColumnNames: ['id'], columns } }],
  },
});
const both = [recordOf(0, 'CREATE', [id, name]), recordOf(4, 'ALTER', [id, name, added])];

describe('schema changes', () => {
  it.each(['json', 'json-schema', 'avro', 'protobuf'] as const)(
    'are the columns at the start and with the first version that has others, in %s',
    async (encoding) => {
      const harness = await filled();
      await harness.catchUp({ ...spec, records: { ...plainRecords, encoding } });
      // Protobuf leaves out what is zero or false, and so it reads it back.
      expect(await metadataOf(harness, topic, encoding)).toEqual(encoding === 'protobuf' ? withoutZeros(both) : both);
    },
  );

  const failpoints: readonly FailpointName[] = [
    'before-transaction',
    'before-transaction-end',
    'transaction-end-applied',
    'after-transaction',
  ];
  it.each(failpoints)('are told once when the process dies at %s, at any run', async (armed) => {
    for (let survived = 0; survived < 7; survived++) {
      const harness = await filled();
      let visits = 0;
      const die = (point: FailpointName): Promise<void> => {
        if (point !== armed || visits++ !== survived) return Promise.resolve();
        harness.crashNewest();
        return Promise.reject(new Error('crash'));
      };
      harness.brokerFailpoint = die;
      const running = harness.start(spec, die);
      await Promise.race([running.ended, until(() => visits > survived), running.feed.drain(toVersion(5)).catch(() => undefined)]);
      harness.brokerFailpoint = () => Promise.resolve();
      await harness.catchUp(spec);
      await running.stop();
      expect(await metadataOf(harness, topic), `died at visit ${survived}`).toEqual(both);
    }
  });

  it('are those of the columns that are selected, and told when others are', async () => {
    const harness = await filled();
    await harness.catchUp({ ...spec, select: ['id', 'name'] });
    expect(await toldOf(harness)).toEqual(['0 CREATE id name']);
    await harness.table.commit([{ kind: 'insert', rows: [{ id: 9 }] }]);
    await harness.catchUp({ ...spec, select: ['id', 'price'] });
    expect(await toldOf(harness)).toEqual(['0 CREATE id name', '6 ALTER id price']);
  });

  it('begin with a CREATE where the feed began without them', async () => {
    const harness = await filled();
    await harness.catchUp({ ...spec, schemaChanges: undefined });
    await harness.table.commit([{ kind: 'insert', rows: [{ id: 9 }] }]);
    await harness.catchUp(spec);
    expect(await toldOf(harness)).toEqual(['6 CREATE id name price']);
  });

  it('begin again in a topic that was made anew, and in another one', async () => {
    const harness = await filled();
    await harness.catchUp(spec);
    await harness.reader.admin.deleteTopic(topic);
    await harness.table.commit([{ kind: 'insert', rows: [{ id: 9 }] }]);
    await harness.catchUp(spec);
    expect(await toldOf(harness)).toEqual(['6 CREATE id name price']);
  });

  it('say of a table that took the name of another one that the one went and the other came', async () => {
    const harness = await filled();
    await harness.catchUp(spec);
    harness.table.tableId = 'table-2';
    await harness.table.setLive([{ kind: 'insert', rows: [{ id: 1 }] }]);
    await harness.catchUp({ ...spec, onTableReplaced: 'resnapshot' });
    expect((await toldOf(harness)).slice(2)).toEqual(['5 DROP', '5 CREATE id name price']);
  });

  it('are not told again with a snapshot that follows a gap', async () => {
    const harness = await filled();
    await harness.catchUp(spec);
    for (const row of [9, 10]) await harness.table.commit([{ kind: 'insert', rows: [{ id: row }] }]);
    harness.table.lose(6);
    await harness.table.setLive([{ kind: 'insert', rows: [{ id: 1 }] }]);
    await harness.catchUp({ ...spec, onGap: 'resnapshot' });
    expect(await toldOf(harness)).toEqual(['0 CREATE id name', '4 ALTER id name price']);
  });
});
