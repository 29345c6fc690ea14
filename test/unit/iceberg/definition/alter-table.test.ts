import { describe, expect, it } from 'vitest';
import { alterTable } from '../../../../src/iceberg/definition/alter-table.ts';
import { schemaToJson } from '../../../../src/iceberg/metadata/schema-json.ts';
import type { SnapshotState } from '../../../../src/iceberg/snapshot-state.ts';
import type { TableContext } from '../../../../src/iceberg/table-context.ts';
import { commitSnapshot } from '../../../../src/iceberg/transaction/commit-snapshot.ts';
import type { DataType, Field, StructType } from '../../../../src/schema/types.ts';
import type { DefinitionChange } from '../../../../src/table/definition-changes.ts';
import type { Transform } from '../../../../src/table/partitioning/transform.ts';
import type { TableDefinition } from '../../../../src/table/table.ts';
import { change, created, dataFile, memoryContext } from '../../../support/iceberg/memory-table.ts';

const long: DataType = { kind: 'long' };
const text: DataType = { kind: 'string' };

function optional(name: string, type: DataType): Field {
  return { name, type, nullable: true };
}

const point: StructType = { kind: 'struct', fields: [optional('x', { kind: 'integer' }), optional('y', { kind: 'integer' })] };

const nested: Partial<TableDefinition> = {
  schema: {
    kind: 'struct',
    fields: [
      { name: 'id', type: long, nullable: false },
      optional('p', point),
      optional('list', { kind: 'list', element: point, elementNullable: true }),
      optional('map', { kind: 'map', key: text, value: point, valueNullable: true }),
      optional('price', { kind: 'decimal', precision: 9, scale: 2 }),
    ],
  },
};

interface Subject {
  readonly context: TableContext;
  readonly alter: (change: DefinitionChange) => Promise<SnapshotState | undefined>;
}

async function table(parts: Partial<TableDefinition> = {}): Promise<Subject> {
  const context = memoryContext();
  await created(context, parts);
  return { context, alter: (change) => alterTable(context, change) };
}

/** `name:id` of the columns, in order. */
function columnsOf(state: SnapshotState | undefined): readonly string[] {
  return (state?.schema.fields ?? []).map(({ name, id }) => `${name}:${id ?? ''}`);
}

function specOf(state: SnapshotState | undefined): readonly string[] {
  const spec = state?.metadata.partitionSpecs.find(({ specId }) => specId === state.metadata.defaultSpecId);
  return (spec?.fields ?? []).map(({ name, fieldId, transform }) => `${name}:${fieldId}:${transform.kind}`);
}

describe('changes of columns', () => {
  it('give added columns ids of their own, inside lists and maps too, and make no snapshot', async () => {
    const { alter } = await table(nested);
    const state = await alter({
      kind: 'add-columns',
      columns: [
        { parent: [], field: optional('first', long), place: { kind: 'first' } },
        { parent: ['p'], field: optional('z', text), place: { kind: 'after', sibling: 'x' } },
        { parent: ['list', 'element'], field: optional('z', text) },
        { parent: ['map'], field: optional('z', { kind: 'list', element: { kind: 'short' }, elementNullable: true }) },
      ],
    });
    expect(state?.snapshot).toBeUndefined();
    expect(state?.metadata.currentSchemaId).toBe(1);
    expect(state?.metadata.lastColumnId).toBe(19);
    expect(
      schemaToJson(state?.icebergSchema ?? { schemaId: 0, struct: { kind: 'struct', fields: [] }, identifierFieldIds: [] }),
    ).toMatchObject({
      fields: [
        { id: 15, name: 'first' },
        { id: 1, name: 'id', required: true },
        {
          id: 2,
          name: 'p',
          type: {
            fields: [
              { id: 6, name: 'x' },
              { id: 16, name: 'z' },
              { id: 7, name: 'y' },
            ],
          },
        },
        { id: 3, type: { 'element-id': 8, element: { fields: [{ id: 9 }, { id: 10 }, { id: 17, name: 'z' }] } } },
        {
          id: 4,
          type: {
            'key-id': 11,
            'value-id': 12,
            value: { fields: [{ id: 13 }, { id: 14 }, { id: 18, name: 'z', type: { 'element-id': 19, element: 'int' } }] },
          },
        },
        { id: 5 },
      ],
    });
  });

  it('keep ids when columns are renamed, moved, widened and dropped, and never use an id again', async () => {
    const { alter } = await table(nested);
    expect(columnsOf(await alter({ kind: 'rename-column', path: ['price'], to: 'amount' }))).toContain('amount:5');
    expect(columnsOf(await alter({ kind: 'move-column', path: ['amount'], place: { kind: 'first' } }))[0]).toBe('amount:5');
    const wider = await alter({ kind: 'change-type', path: ['amount'], type: { kind: 'decimal', precision: 12, scale: 2 } });
    expect(wider?.schema.fields[0]?.type).toMatchObject({ precision: 12 });
    expect(columnsOf(await alter({ kind: 'drop-columns', paths: [['amount']] }))).not.toContain('amount:5');
    const again = await alter({ kind: 'add-columns', columns: [{ parent: [], field: optional('amount', long) }] });
    expect(columnsOf(again)).toContain('amount:15');
    expect(await alter({ kind: 'drop-columns', paths: [['nope']], ifExists: true })).toBeUndefined();
  });

  it('make required columns optional, and set comments', async () => {
    const { alter } = await table(nested);
    const state = await alter({ kind: 'change-nullability', path: ['id'], nullable: true });
    expect(state?.schema.fields[0]?.nullable).toBe(true);
    expect(await alter({ kind: 'change-nullability', path: ['id'], nullable: true })).toBeUndefined();
    expect((await alter({ kind: 'change-comment', path: ['id'], comment: 'the key' }))?.schema.fields[0]?.metadata).toEqual({
      comment: 'the key',
    });
  });

  it('use the id of an equal earlier schema again', async () => {
    const { alter } = await table();
    await alter({ kind: 'rename-column', path: ['s'], to: 't' });
    const back = await alter({ kind: 'rename-column', path: ['t'], to: 's' });
    expect(back?.metadata.currentSchemaId).toBe(0);
    expect(back?.metadata.schemas.length).toBe(2);
  });

  it.each<[string, DefinitionChange, string]>([
    [
      'a name that is taken',
      { kind: 'add-columns', columns: [{ parent: [], field: optional('ID', long) }] },
      'Cannot add column, because `ID`',
    ],
    [
      'a rename to a taken name',
      { kind: 'rename-column', path: ['p', 'x'], to: 'y' },
      'Cannot rename column, because `p`.`y` already exists',
    ],
    ['a column that is not there', { kind: 'drop-columns', paths: [['nope']] }, 'with name `nope` cannot be resolved'],
    [
      'a required column without a default',
      { kind: 'add-columns', columns: [{ parent: [], field: { name: 'r', type: long, nullable: false } }] },
      'Incompatible change: cannot add required column without a default value: r',
    ],
    [
      'a member of something without members',
      { kind: 'add-columns', columns: [{ parent: ['id'], field: optional('r', long) }] },
      'Cannot add to non-struct column: id',
    ],
    ['fields in map keys', { kind: 'drop-columns', paths: [['map', 'key']] }, 'is inside a list or map'],
    [
      'required from optional',
      { kind: 'change-nullability', path: ['p'], nullable: false },
      'Cannot change nullable column to non-nullable: p.',
    ],
    [
      'a narrower type',
      { kind: 'change-type', path: ['id'], type: { kind: 'integer' } },
      'ALTER TABLE ALTER/CHANGE COLUMN is not supported for changing `db`.`t`\'s column `id` with type "BIGINT" to `id` with type "INT".',
    ],
    [
      'another scale',
      { kind: 'change-type', path: ['price'], type: { kind: 'decimal', precision: 12, scale: 3 } },
      'ALTER TABLE ALTER/CHANGE COLUMN is not supported',
    ],
    [
      'a default before format version 3',
      { kind: 'add-columns', columns: [{ parent: [], field: { ...optional('d', long), metadata: { CURRENT_DEFAULT: '5' } } }] },
      'Invalid initial default for d: non-null default (5) is not supported until v3',
    ],
    [
      'types of a later format version',
      { kind: 'add-columns', columns: [{ parent: [], field: optional('n', { kind: 'timestamp_ns' }) }] },
      'Invalid type for n: timestamptz_ns is not supported until v3',
    ],
    [
      'identifier columns that may be null',
      { kind: 'set-identifier-fields', paths: [['price']] },
      'as an identifier field: not a required field',
    ],
    ['constraints', { kind: 'drop-constraint', name: 'c', ifExists: true }, 'CHECK constraints of Iceberg tables is not supported'],
  ])('refuse %s', async (_, change, message) => {
    const { alter } = await table(nested);
    await expect(alter(change)).rejects.toThrow(message);
  });

  it('keep columns that rows are told apart or divided by', async () => {
    const { alter } = await table({ ...nested, partitionColumns: ['price'], identifierColumns: ['id'] });
    await alter({ kind: 'change-comment', path: ['id'], comment: 'the key' });
    await expect(alter({ kind: 'drop-columns', paths: [['id']] })).rejects.toMatchObject({
      errorClass: '_LEGACY_ERROR_TEMP_2045',
      message:
        'Unsupported table change: Cannot delete identifier field 1: id: required long (the key). To force deletion, also call ' +
        'setIdentifierFields to update identifier fields.',
    });
    await expect(alter({ kind: 'drop-columns', paths: [['price']] })).rejects.toMatchObject({
      alias: 'ValidationException',
      message: 'Cannot find source column for partition field: 1000: price: identity(5)',
    });
    const state = await alter({ kind: 'drop-identifier-fields', paths: [['id']] });
    expect(state?.icebergSchema.identifierFieldIds).toEqual([]);
    await expect(alter({ kind: 'drop-identifier-fields', paths: [['id']] })).rejects.toThrow('id is not an identifier field');
  });

  it('have defaults in format version 3', async () => {
    const { alter } = await table({ properties: { 'format-version': '3' } });
    const field = { ...optional('d', { kind: 'decimal', precision: 5, scale: 2 }), metadata: { CURRENT_DEFAULT: '-0.5' } };
    const state = await alter({ kind: 'add-columns', columns: [{ parent: [], field }] });
    expect(state?.schema.fields.at(-1)?.metadata).toEqual({ 'initial-default': '-0.50', 'write-default': '-0.50' });
    const changed = await alter({ kind: 'change-default', path: ['d'], expression: '7' });
    expect(changed?.schema.fields.at(-1)?.metadata).toEqual({ 'initial-default': '-0.50', 'write-default': '7.00' });
    const required = { name: 'r', type: text, nullable: false, metadata: { CURRENT_DEFAULT: "'x'" } };
    expect((await alter({ kind: 'add-columns', columns: [{ parent: [], field: required }] }))?.schema.fields.at(-1)).toMatchObject({
      nullable: false,
      metadata: { 'initial-default': 'x' },
    });
  });

  it('go with properties that name columns and with the name mapping', async () => {
    const mapping = '[{"field-id":1,"names":["id"]},{"field-id":2,"names":["s"]}]';
    const { alter } = await table({
      properties: { 'write.metadata.metrics.column.s': 'full', 'schema.name-mapping.default': mapping },
    });
    const state = await alter({ kind: 'rename-column', path: ['s'], to: 't' });
    expect(state?.properties).toMatchObject({
      'write.metadata.metrics.column.t': 'full',
      'schema.name-mapping.default': '[{"field-id":1,"names":["id"]},{"field-id":2,"names":["s","t"]}]',
    });
    expect(state?.properties['write.metadata.metrics.column.s']).toBeUndefined();
    const added = await alter({ kind: 'add-columns', columns: [{ parent: [], field: optional('s', long) }] });
    expect(added?.properties['schema.name-mapping.default']).toBe(
      '[{"field-id":1,"names":["id"]},{"field-id":2,"names":["t"]},{"field-id":3,"names":["s"]}]',
    );
  });
});

describe('changes of the partitioning', () => {
  const columns: Partial<TableDefinition> = {
    schema: { kind: 'struct', fields: [optional('id', long), optional('s', text), optional('ts', { kind: 'timestamp' })] },
  };

  it('name fields after column and transform, and give ids of earlier fields again', async () => {
    const { alter } = await table(columns);
    const add = (source: string, transform: Transform): Promise<SnapshotState | undefined> =>
      alter({ kind: 'add-partition-field', field: { source: [source], transform } });
    await add('id', { kind: 'bucket', count: 16 });
    await add('s', { kind: 'truncate', width: 4 });
    expect(specOf(await add('ts', { kind: 'day' }))).toEqual(['id_bucket_16:1000:bucket', 's_trunc_4:1001:truncate', 'ts_day:1002:day']);
    await alter({ kind: 'drop-partition-field', field: { name: 's_trunc_4' } });
    expect(specOf(await add('ts', { kind: 'hour' }))).toEqual(['id_bucket_16:1000:bucket', 'ts_day:1002:day', 'ts_hour:1003:hour']);
    const back = await add('s', { kind: 'truncate', width: 4 });
    expect(specOf(back)).toContain('s_trunc_4:1001:truncate');
    expect(back?.metadata.lastPartitionId).toBe(1003);
  });

  it('replace fields, and find them by name, column or transform', async () => {
    const { alter } = await table({ ...columns, partitionColumns: ['s'] });
    const replaced = await alter({
      kind: 'replace-partition-field',
      field: { name: 's' },
      by: { source: ['s'], transform: { kind: 'truncate', width: 2 }, name: 'short' },
    });
    expect(specOf(replaced)).toEqual(['short:1001:truncate']);
    const dropped = await alter({ kind: 'drop-partition-field', field: { source: ['S'], transform: { kind: 'truncate', width: 2 } } });
    expect(specOf(dropped)).toEqual([]);
    expect(specOf(await alter({ kind: 'add-partition-field', field: { source: ['s'], transform: { kind: 'identity' } } }))).toEqual([
      's:1000:identity',
    ]);
  });

  it('leave the place of a dropped field in format version 1', async () => {
    const { alter } = await table({ ...columns, partitionColumns: ['s'], properties: { 'format-version': '1' } });
    expect(specOf(await alter({ kind: 'drop-partition-field', field: { name: 's' } }))).toEqual(['s:1000:void']);
    const again = await alter({ kind: 'add-partition-field', field: { source: ['s'], transform: { kind: 'identity' } } });
    expect(specOf(again)).toEqual(['s_1000:1000:void', 's:1001:identity']);
  });

  it.each<[string, DefinitionChange, string]>([
    [
      'a field that is there',
      { kind: 'add-partition-field', field: { source: ['s'], transform: { kind: 'identity' } } },
      'Cannot add duplicate partition field null=ref(name="s"), conflicts with 1000: s: identity(2)',
    ],
    [
      'a name that is taken',
      { kind: 'add-partition-field', field: { source: ['id'], transform: { kind: 'bucket', count: 4 }, name: 's' } },
      'Cannot create partition from name that exists in schema: s',
    ],
    ['a field that is not there', { kind: 'drop-partition-field', field: { name: 'nope' } }, 'Cannot find partition field to remove: nope'],
    [
      'a transform the type does not have',
      { kind: 'add-partition-field', field: { source: ['s'], transform: { kind: 'day' } } },
      'Invalid source type string for transform: day',
    ],
    [
      'a column that is not there',
      { kind: 'add-partition-field', field: { source: ['nope'], transform: { kind: 'identity' } } },
      'No such struct field `nope`',
    ],
  ])('refuse %s', async (_, change, message) => {
    const { alter } = await table({ ...columns, partitionColumns: ['s'] });
    await expect(alter(change)).rejects.toThrow(message);
  });
});

describe('changes of order, properties and references', () => {
  it('order rows to come', async () => {
    const { alter } = await table();
    const keys = [{ source: ['s'], transform: { kind: 'identity' } as const, descending: true, nullsFirst: false }];
    const state = await alter({ kind: 'write-order', keys, distribution: 'range' });
    expect(state?.metadata.defaultSortOrderId).toBe(1);
    expect(state?.metadata.sortOrders.at(-1)?.fields).toEqual([
      { transform: { kind: 'identity' }, sourceId: 2, direction: 'desc', nullOrder: 'nulls-last' },
    ]);
    expect(state?.properties['write.distribution-mode']).toBe('range');
    const unordered = await alter({ kind: 'write-order', keys: [], distribution: 'none' });
    expect(unordered?.metadata.defaultSortOrderId).toBe(0);
  });

  it('set, unset and upgrade', async () => {
    const { alter } = await table();
    expect((await alter({ kind: 'set-properties', properties: { a: '1' } }))?.properties['a']).toBe('1');
    expect(await alter({ kind: 'set-properties', properties: { a: '1' } })).toBeUndefined();
    expect(await alter({ kind: 'unset-properties', keys: ['b'], ifExists: false })).toBeUndefined();
    expect((await alter({ kind: 'unset-properties', keys: ['a'], ifExists: false }))?.properties['a']).toBeUndefined();
    expect((await alter({ kind: 'comment', comment: 'hello' }))?.properties['comment']).toBe('hello');
    const upgraded = await alter({ kind: 'set-properties', properties: { 'format-version': '3' } });
    expect(upgraded?.metadata.formatVersion).toBe(3);
    expect(upgraded?.properties['format-version']).toBeUndefined();
    await expect(alter({ kind: 'set-properties', properties: { 'format-version': '2' } })).rejects.toThrow(
      'Cannot downgrade v3 table to v2',
    );
    await expect(alter({ kind: 'set-properties', properties: { 'format-version': '4' } })).rejects.toThrow(
      'unsupported format version: v4',
    );
    await expect(alter({ kind: 'set-properties', properties: { 'current-snapshot-id': '5' } })).rejects.toMatchObject({
      errorClass: 'UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY',
    });
  });

  it('cannot move a table of the file system', async () => {
    const { alter } = await table();
    await expect(alter({ kind: 'set-location', location: '/elsewhere' })).rejects.toThrow('Hadoop path-based tables cannot be relocated');
  });

  it('make, move and remove branches and tags', async () => {
    const { context, alter } = await table();
    const first = await commitSnapshot(context, await context.refresh(), change({ added: [dataFile('a')] }));
    await alter({ kind: 'create-ref', ref: 'tag', name: 't1', mode: 'create', maxRefAgeMs: 1000n });
    const second = await commitSnapshot(context, await context.refresh(), change({ added: [dataFile('b')] }));
    const refs = async (): Promise<readonly string[]> =>
      [...(await context.refresh()).metadata.refs].map(
        ([name, ref]) => `${name}:${ref.type}:${ref.snapshotId === first.snapshotId ? 1 : 2}`,
      );
    expect(await refs()).toEqual(['main:branch:2', 't1:tag:1']);
    await alter({ kind: 'create-ref', ref: 'branch', name: 'b1', mode: 'create', snapshotId: first.snapshotId, minSnapshotsToKeep: 3 });
    await alter({ kind: 'create-ref', ref: 'tag', name: 't1', mode: 'create-or-replace', snapshotId: second.snapshotId });
    expect(await alter({ kind: 'create-ref', ref: 'tag', name: 't1', mode: 'create-if-absent' })).toBeUndefined();
    expect(await refs()).toEqual(['main:branch:2', 't1:tag:2', 'b1:branch:1']);
    expect((await context.refresh()).metadata.refs.get('t1')?.maxRefAgeMs).toBe(1000n);
    await alter({ kind: 'drop-ref', ref: 'tag', name: 't1', ifExists: false });
    expect(await alter({ kind: 'drop-ref', ref: 'tag', name: 't1', ifExists: true })).toBeUndefined();
    await expect(alter({ kind: 'drop-ref', ref: 'tag', name: 't1', ifExists: false })).rejects.toThrow('Tag does not exist: t1');
    await expect(alter({ kind: 'drop-ref', ref: 'tag', name: 'b1', ifExists: true })).rejects.toThrow('Ref b1 is a branch not a tag');
    await expect(alter({ kind: 'drop-ref', ref: 'branch', name: 'main', ifExists: true })).rejects.toThrow('Cannot remove main branch');
    await expect(alter({ kind: 'create-ref', ref: 'branch', name: 'b1', mode: 'create' })).rejects.toThrow('Ref b1 already exists');
    await expect(alter({ kind: 'create-ref', ref: 'branch', name: 'x', mode: 'replace' })).rejects.toThrow('Branch does not exist: x');
    await expect(alter({ kind: 'create-ref', ref: 'tag', name: 'x', mode: 'create', snapshotId: 5n })).rejects.toThrow(
      'Cannot set x to unknown snapshot: 5',
    );
  });

  it('start a branch of an empty table with an empty snapshot, and refuse a tag there', async () => {
    const { context, alter } = await table();
    await expect(alter({ kind: 'create-ref', ref: 'tag', name: 't', mode: 'create' })).rejects.toThrow(
      'Cannot complete create or replace tag operation on t, main has no snapshot',
    );
    await alter({ kind: 'create-ref', ref: 'branch', name: 'b', mode: 'create', minSnapshotsToKeep: 2 });
    const state = await context.refresh();
    expect(state.snapshot).toBeUndefined();
    expect(state.metadata.snapshots.length).toBe(1);
    expect(state.metadata.snapshots[0]?.summary).toMatchObject({ operation: 'append', 'total-records': '0' });
    expect([...state.metadata.refs].map(([name, ref]) => [name, ref.minSnapshotsToKeep])).toEqual([['b', 2]]);
  });
});
