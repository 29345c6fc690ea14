import { describe, expect, it } from 'vitest';
import { applyUpdates } from '../../../../src/iceberg/metadata/apply-updates.ts';
import type { MetadataUpdate } from '../../../../src/iceberg/metadata/metadata-updates.ts';
import type { TableMetadata } from '../../../../src/iceberg/metadata/table-metadata.ts';
import { branch, commit, createdTable, defaultFields, snapshot } from '../../../support/iceberg-metadata.ts';

function apply(base: TableMetadata, updates: readonly MetadataUpdate[], nowMs = 5000): TableMetadata {
  return applyUpdates(base, updates, { nowMs, baseLocation: '/lake/t/metadata/v1.metadata.json' });
}

const wider = [...defaultFields, { name: 'extra', type: { kind: 'double' }, nullable: true, id: 4 } as const];
const schemaOf = (fields: typeof defaultFields, identifierFieldIds: readonly number[] = []) =>
  ({ schemaId: 77, struct: { kind: 'struct', fields }, identifierFieldIds }) as const;
const byDay = { specId: 9, fields: [{ sourceId: 3, fieldId: 1000, name: 'day_month', transform: { kind: 'month' } }] } as const;

describe('schemas, specs and orders', () => {
  it('are numbered from the highest id on, and -1 stands for the one just added', () => {
    const table = apply(createdTable(), [
      { action: 'add-schema', schema: schemaOf(wider), lastColumnId: 4 },
      { action: 'set-current-schema', schemaId: -1 },
      { action: 'add-spec', spec: byDay },
      { action: 'set-default-spec', specId: -1 },
      {
        action: 'add-sort-order',
        sortOrder: { orderId: 9, fields: [{ transform: { kind: 'identity' }, sourceId: 1, direction: 'asc', nullOrder: 'nulls-first' }] },
      },
      { action: 'set-default-sort-order', sortOrderId: -1 },
    ]);
    expect(table).toMatchObject({ currentSchemaId: 1, lastColumnId: 4, defaultSpecId: 1, lastPartitionId: 1000, defaultSortOrderId: 1 });
    expect([table.schemas.length, table.partitionSpecs.length, table.sortOrders.length]).toEqual([2, 2, 2]);
  });

  it('are used again when an equal one is there, whatever their ids', () => {
    const table = createdTable({ partition: byDay.fields });
    const again = apply(table, [
      { action: 'add-schema', schema: schemaOf(defaultFields), lastColumnId: 3 },
      { action: 'set-current-schema', schemaId: -1 },
      { action: 'add-spec', spec: { ...byDay, fields: [{ ...byDay.fields[0], fieldId: 1005 }] } },
      { action: 'set-default-spec', specId: -1 },
      { action: 'add-sort-order', sortOrder: { orderId: 5, fields: [] } },
      { action: 'set-default-sort-order', sortOrderId: -1 },
    ]);
    expect(again).toBe(table);
  });

  it('tell schemas apart by their identifier fields', () => {
    const table = apply(createdTable(), [
      { action: 'add-schema', schema: schemaOf(defaultFields, [1]), lastColumnId: 3 },
      { action: 'set-current-schema', schemaId: -1 },
    ]);
    expect(table.schemas.at(-1)).toMatchObject({ schemaId: 1, identifierFieldIds: [1] });
  });

  it.each<[string, readonly MetadataUpdate[], string]>([
    [
      'fewer columns',
      [{ action: 'add-schema', schema: schemaOf(defaultFields), lastColumnId: 2 }],
      'Invalid last column ID: 2 < 3 (previous last column ID)',
    ],
    ['a schema nobody added', [{ action: 'set-current-schema', schemaId: -1 }], 'Cannot set last added schema: no schema has been added'],
    ['an unknown schema', [{ action: 'set-current-schema', schemaId: 5 }], 'Cannot set current schema to unknown schema: 5'],
    ['a spec nobody added', [{ action: 'set-default-spec', specId: -1 }], 'Cannot set last added spec: no spec has been added'],
    ['an unknown spec', [{ action: 'set-default-spec', specId: 5 }], 'Cannot set default partition spec to unknown spec: 5'],
    ['the default spec removed', [{ action: 'remove-partition-specs', specIds: [0] }], 'Cannot remove the default partition spec'],
    ['the current schema removed', [{ action: 'remove-schemas', schemaIds: [0] }], 'Cannot remove the current schema'],
    [
      'an identifier that may be null',
      [{ action: 'add-schema', schema: schemaOf(defaultFields, [2]), lastColumnId: 3 }],
      'Cannot add field label as an identifier field: not a required field',
    ],
    [
      'nanoseconds before the third version',
      [{ action: 'add-schema', schema: schemaOf([{ name: 'n', type: { kind: 'timestamp_ns' }, nullable: true, id: 4 }]), lastColumnId: 4 }],
      'Invalid schema for v2:\n- Invalid type for n: timestamptz_ns is not supported until v3',
    ],
    [
      'a transform that does not fit',
      [{ action: 'add-spec', spec: { specId: 1, fields: [{ sourceId: 1, fieldId: 1000, name: 'h', transform: { kind: 'hour' } }] } }],
      'Invalid source type long for transform: hour',
    ],
    [
      'a column that is not there',
      [{ action: 'add-spec', spec: { specId: 1, fields: [{ sourceId: 8, fieldId: 1000, name: 'h', transform: { kind: 'identity' } }] } }],
      'Cannot find source column for partition field: h',
    ],
    ['a downgrade', [{ action: 'upgrade-format-version', formatVersion: 1 }], 'Cannot downgrade v2 table to v1'],
    ['an unknown snapshot', [{ action: 'set-snapshot-ref', refName: 'b', ref: branch(5) }], 'Cannot set b to unknown snapshot: 5'],
  ])('refuse %s', (_, updates, message) => {
    expect(() => apply(createdTable(), updates)).toThrow(expect.objectContaining({ code: 'ICEBERG_UPDATE_REFUSED', message }));
  });

  it('drop what is not current', () => {
    const table = apply(createdTable(), [
      { action: 'add-schema', schema: schemaOf(wider), lastColumnId: 4 },
      { action: 'set-current-schema', schemaId: -1 },
      { action: 'add-spec', spec: byDay },
    ]);
    const removed = apply(table, [
      { action: 'remove-schemas', schemaIds: [0] },
      { action: 'remove-partition-specs', specIds: [1] },
    ]);
    expect([removed.schemas.map(({ schemaId }) => schemaId), removed.partitionSpecs.map(({ specId }) => specId)]).toEqual([[1], [0]]);
    expect(removed).toMatchObject({ lastColumnId: 4, lastPartitionId: 1000 });
  });

  it('refuse a current schema without the source of the default spec', () => {
    const table = createdTable({ partition: byDay.fields });
    const updates = [
      { action: 'add-schema', schema: schemaOf(defaultFields.slice(0, 2)), lastColumnId: 3 },
      { action: 'set-current-schema', schemaId: -1 },
    ] as const;
    expect(() => apply(table, updates)).toThrow('cannot find source column for partition field: day_month');
  });
});

describe('snapshots', () => {
  it('move the main branch, the log and the sequence number', () => {
    const table = apply(createdTable(), commit(snapshot(5, 1, { timestampMs: 3000 })));
    expect(table).toMatchObject({ currentSnapshotId: 5n, lastSequenceNumber: 1n, lastUpdatedMs: 3000 });
    expect(table.snapshotLog).toEqual([{ timestampMs: 3000, snapshotId: 5n }]);
    expect(table.metadataLog).toEqual([{ timestampMs: 1000, metadataFile: '/lake/t/metadata/v1.metadata.json' }]);
    expect([...table.refs.keys()]).toEqual(['main']);
  });

  it('of other branches are not logged', () => {
    const table = apply(apply(createdTable(), commit(snapshot(5, 1))), commit(snapshot(6, 2, { parentSnapshotId: 5n }), 'audit'));
    expect(table.snapshotLog.map(({ snapshotId }) => snapshotId)).toEqual([5n]);
    expect(table).toMatchObject({ currentSnapshotId: 5n, lastSequenceNumber: 2n });
  });

  it('that were current only between updates are not logged', () => {
    const table = apply(createdTable(), [...commit(snapshot(5, 1)), ...commit(snapshot(6, 2, { parentSnapshotId: 5n }))]);
    expect(table.snapshotLog.map(({ snapshotId }) => snapshotId)).toEqual([6n]);
    expect(table.snapshots).toHaveLength(2);
  });

  it('never turn the clock back', () => {
    const table = apply(createdTable({ nowMs: 900_000 }), commit(snapshot(5, 1, { timestampMs: 2000 })));
    expect(table).toMatchObject({ lastUpdatedMs: 900_000, snapshotLog: [{ timestampMs: 900_000 }] });
    expect(apply(table, [{ action: 'set-location', location: '/b' }], 10).lastUpdatedMs).toBe(900_000);
  });

  it('take row ids from the third version on', () => {
    const table = createdTable({ formatVersion: 3 });
    const first = apply(table, commit(snapshot(5, 1, { firstRowId: 0n, addedRows: 30n })));
    expect(first.nextRowId).toBe(30n);
    expect(() => apply(first, commit(snapshot(6, 2, { firstRowId: 29n, addedRows: 1n })))).toThrow(
      'first-row-id is behind table next-row-id: 29 < 30',
    );
    expect(() => apply(first, commit(snapshot(6, 2)))).toThrow('Cannot add a snapshot: first-row-id is null');
    expect(apply(createdTable(), [{ action: 'upgrade-format-version', formatVersion: 3 }])).toMatchObject({
      formatVersion: 3,
      nextRowId: 0n,
    });
  });

  it('have ids and sequence numbers of their own', () => {
    const table = apply(createdTable(), commit(snapshot(5, 1)));
    expect(() => apply(table, commit(snapshot(5, 2)))).toThrow('Snapshot already exists for id: 5');
    expect(() => apply(table, commit(snapshot(6, 1, { parentSnapshotId: 5n })))).toThrow(
      'Cannot add snapshot with sequence number 1 older than last sequence number 1',
    );
  });

  it('that are removed take their refs, statistics and the log before them along', () => {
    const statistics = {
      snapshotId: 6n,
      statisticsPath: 's',
      fileSizeInBytes: 1n,
      fileFooterSizeInBytes: 1n,
      keyMetadata: undefined,
      blobMetadata: [],
    };
    let table = createdTable();
    for (const [index, id] of [5, 6, 7].entries()) table = apply(table, commit(snapshot(id, index + 1)));
    table = apply(table, [
      { action: 'set-snapshot-ref', refName: 'old', ref: branch(6, { type: 'tag' }) },
      { action: 'set-statistics', statistics },
      { action: 'set-partition-statistics', statistics: { snapshotId: 7n, statisticsPath: 'p', fileSizeInBytes: 1n } },
    ]);
    const removed = apply(table, [{ action: 'remove-snapshots', snapshotIds: [6n] }]);
    expect(removed.snapshots.map(({ snapshotId }) => snapshotId)).toEqual([5n, 7n]);
    expect(removed.snapshotLog.map(({ snapshotId }) => snapshotId)).toEqual([7n]);
    expect([[...removed.refs.keys()], removed.statistics, removed.partitionStatistics.length]).toEqual([['main'], [], 1]);
  });

  it('of a replaced table stay, and so does the log', () => {
    const table = apply(createdTable(), commit(snapshot(5, 1)));
    const replaced = apply(table, [{ action: 'remove-snapshot-ref', refName: 'main' }, ...commit(snapshot(6, 2))]);
    expect(replaced.snapshotLog.map(({ snapshotId }) => snapshotId)).toEqual([5n, 6n]);
    expect(replaced).toMatchObject({ currentSnapshotId: 6n, tableUuid: table.tableUuid });
    expect(apply(table, [{ action: 'remove-snapshot-ref', refName: 'main' }])).toMatchObject({
      currentSnapshotId: undefined,
      refs: new Map(),
    });
  });
});

describe('the rest', () => {
  it('returns the base when nothing changes', () => {
    const table = createdTable();
    expect(
      apply(table, [
        { action: 'set-location', location: table.location },
        { action: 'set-properties', updates: {} },
      ]),
    ).toBe(table);
  });

  it('sets and removes properties', () => {
    const table = apply(createdTable({ properties: { a: '1', b: '2' } }), [
      { action: 'set-properties', updates: { b: '3', c: '4' } },
      { action: 'remove-properties', removals: ['a', 'z'] },
    ]);
    expect(table.properties).toEqual({ b: '3', c: '4' });
  });

  it('keeps as many places of earlier metadata as the table says', () => {
    let table = createdTable({ properties: { 'write.metadata.previous-versions-max': '2' } });
    for (const version of [1, 2, 3, 4]) {
      table = applyUpdates(table, [{ action: 'set-properties', updates: { version: `${version}` } }], {
        nowMs: 2000 + version,
        baseLocation: `v${version}`,
      });
    }
    expect(table.metadataLog).toEqual([
      { timestampMs: 2002, metadataFile: 'v3' },
      { timestampMs: 2003, metadataFile: 'v4' },
    ]);
  });

  it('refuses a table without schema, UUID or location', () => {
    expect(() => applyUpdates(undefined, [{ action: 'set-location', location: '/t' }], { nowMs: 1, baseLocation: undefined })).toThrow(
      'a table needs a schema',
    );
  });
});
