import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RandomIdSource } from '../../../../src/base/ids.ts';
import { SeededRandom } from '../../../../src/base/seeded-random.ts';
import { alterTable } from '../../../../src/iceberg/definition/alter-table.ts';
import { type CreatedTable, createTable } from '../../../../src/iceberg/definition/create-table.ts';
import { tableFiles } from '../../../../src/iceberg/open-table-files.ts';
import { FileSystemPointer } from '../../../../src/iceberg/pointer/file-system-pointer.ts';
import type { SnapshotState } from '../../../../src/iceberg/snapshot-state.ts';
import type { TableContext } from '../../../../src/iceberg/table-context.ts';
import { commitSnapshot } from '../../../../src/iceberg/transaction/commit-snapshot.ts';
import { objectStoreOpener } from '../../../../src/storage/open-object-store.ts';
import type { TableDefinition } from '../../../../src/table/table.ts';
import type { CreateRequest } from '../../../../src/table/table-formats.ts';
import { FaultyPointer } from '../../../support/iceberg/faulty-pointer.ts';
import {
  change,
  created,
  dataFile,
  definitionOf,
  liveNames,
  memoryContext,
  memoryLocation,
  memoryStore,
  pathsBelow,
  plainColumns,
} from '../../../support/iceberg/memory-table.ts';
import { StepClock } from '../../../support/step-clock.ts';
import { openTestEngine, type TestEngine } from '../../../support/test-engine.ts';

function request(
  parts: Partial<Omit<CreateRequest, 'definition'>> & { readonly definition?: Partial<TableDefinition> } = {},
): CreateRequest {
  const { definition, ...rest } = parts;
  return { name: 'db.t', location: memoryLocation, mode: 'create', ...rest, definition: definitionOf(definition) };
}

function specOf({ metadata }: SnapshotState): readonly string[] {
  const spec = metadata.partitionSpecs.find(({ specId }) => specId === metadata.defaultSpecId);
  return (spec?.fields ?? []).map(({ name, fieldId }) => `${name}:${fieldId}`);
}

describe('createTable', () => {
  it('makes a table of format version 2 without a snapshot', async () => {
    const context = memoryContext();
    const { created, state } = await createTable(context, context.pointer, request({ comment: 'a table' }));
    expect(created).toBe(true);
    expect(state.metadata).toMatchObject({
      formatVersion: 2,
      location: memoryLocation,
      lastColumnId: 2,
      currentSchemaId: 0,
      defaultSpecId: 0,
      lastPartitionId: 999,
      defaultSortOrderId: 0,
      lastSequenceNumber: 0n,
      properties: { 'write.parquet.compression-codec': 'zstd', comment: 'a table' },
      snapshots: [],
      metadataLog: [],
    });
    expect(await pathsBelow(context)).toEqual(['metadata/v1.metadata.json', 'metadata/version-hint.text']);
  });

  it('numbers columns level by level, and partition fields from 1000 by the names of a creation', async () => {
    const context = memoryContext();
    const { state } = await createTable(
      context,
      context.pointer,
      request({
        definition: {
          schema: {
            kind: 'struct',
            fields: [
              { name: 'a', type: { kind: 'short' }, nullable: false, id: 77 },
              {
                name: 'b',
                nullable: true,
                type: {
                  kind: 'list',
                  elementNullable: true,
                  element: {
                    kind: 'struct',
                    fields: [
                      {
                        name: 'm',
                        type: { kind: 'map', key: { kind: 'string' }, value: { kind: 'long' }, valueNullable: true },
                        nullable: true,
                      },
                    ],
                  },
                },
              },
              { name: 'c', type: { kind: 'timestamp' }, nullable: true },
            ],
          },
          partitioning: [
            { source: ['a'], transform: { kind: 'bucket', count: 8 } },
            { source: ['c'], transform: { kind: 'day' } },
          ],
          identifierColumns: ['a'],
          properties: { 'format-version': '3' },
        },
      }),
    );
    expect(state.schema.fields.map(({ name, id }) => [name, id])).toEqual([
      ['a', 1],
      ['b', 2],
      ['c', 3],
    ]);
    expect(state.schema.fields[0]?.type).toEqual({ kind: 'integer' });
    expect(state.schema.fields[1]?.type).toMatchObject({
      elementId: 4,
      element: { fields: [{ id: 5, type: { keyId: 6, valueId: 7 } }] },
    });
    expect(specOf(state)).toEqual(['a_bucket:1000', 'c_day:1001']);
    expect(state.icebergSchema.identifierFieldIds).toEqual([1]);
    expect(state.metadata.formatVersion).toBe(3);
    expect(state.properties['format-version']).toBeUndefined();
  });

  it.each<[string, Partial<TableDefinition>, string]>([
    [
      'two periods of one column',
      {
        schema: { kind: 'struct', fields: [{ name: 'ts', type: { kind: 'timestamp' }, nullable: true }] },
        partitioning: [
          { source: ['ts'], transform: { kind: 'day' } },
          { source: ['ts'], transform: { kind: 'hour' } },
        ],
      },
      'Cannot add redundant partition: ts_day conflicts with ts_hour',
    ],
    [
      'a partition field with the name of another column',
      { partitioning: [{ source: ['id'], transform: { kind: 'bucket', count: 2 }, name: 's' }] },
      'Cannot create partition from name that exists in schema: s',
    ],
    ['a partition column that is not there', { partitionColumns: ['nope'] }, "Couldn't find column nope"],
    ['a partition column twice', { partitionColumns: ['s', 's'] }, 'Found duplicate column(s) in the partitioning: s'],
    ['a format version that is not there', { properties: { 'format-version': '4' } }, 'unsupported format version: v4'],
    ['a reserved property', { properties: { 'snapshot-count': '4' } }, 'snapshot-count is a reserved table property'],
  ])('refuses %s', async (_, definition, message) => {
    const context = memoryContext();
    await expect(createTable(context, context.pointer, request({ definition }))).rejects.toThrow(message);
    expect(await pathsBelow(context)).toEqual([]);
  });

  it('fails, or leaves the table, when there is one', async () => {
    const context = memoryContext();
    const { tableId } = await created(context);
    await expect(createTable(context, context.pointer, request())).rejects.toMatchObject({
      errorClass: 'TABLE_OR_VIEW_ALREADY_EXISTS',
      sqlState: '42P07',
    });
    const left = await createTable(context, context.pointer, request({ mode: 'create-if-absent' }));
    expect([left.created, left.state.tableId]).toEqual([false, tableId]);
    expect((await createTable(context, context.pointer, request({ takeOver: true }))).created).toBe(false);
    const other = request({ takeOver: true, definition: { schema: { kind: 'struct', fields: plainColumns.slice(1) } } });
    await expect(createTable(context, context.pointer, other)).rejects.toMatchObject({ errorClass: 'TABLE_OR_VIEW_ALREADY_EXISTS' });
  });

  it('replaces only what is there', async () => {
    const context = memoryContext();
    await expect(createTable(context, context.pointer, request({ mode: 'replace' }))).rejects.toMatchObject({
      errorClass: 'TABLE_OR_VIEW_NOT_FOUND',
    });
    expect((await createTable(context, context.pointer, request({ mode: 'create-or-replace' }))).created).toBe(true);
  });

  it('keeps identity, history and ids of a replaced table', async () => {
    const context = memoryContext();
    await created(context, { partitionColumns: ['s'] });
    const before = await commitSnapshot(context, await context.refresh(), change({ added: [dataFile('a', { partition: ['x'] })] }));
    await alterTable(context, { kind: 'set-properties', properties: { kept: '1' } });
    const definition: Partial<TableDefinition> = {
      schema: {
        kind: 'struct',
        fields: [
          { name: 's', type: { kind: 'string' }, nullable: true },
          { name: 'n', type: { kind: 'long' }, nullable: true },
        ],
      },
      partitionColumns: ['s', 'n'],
      properties: { more: '2' },
    };
    const { state } = await createTable(context, context.pointer, request({ mode: 'create-or-replace', definition }));
    expect(state.tableId).toBe(before.tableId);
    expect(state.snapshot).toBeUndefined();
    expect(state.metadata.snapshots.length).toBe(1);
    expect(state.metadata.refs.size).toBe(0);
    expect(state.schema.fields.map(({ name, id }) => [name, id])).toEqual([
      ['s', 2],
      ['n', 3],
    ]);
    expect(specOf(state)).toEqual(['s:1000', 'n:1001']);
    expect(state.properties).toMatchObject({ kept: '1', more: '2' });
    const next = await commitSnapshot(
      context,
      await context.refresh(),
      change({ added: [dataFile('b', { specId: 1, partition: ['x', 1n] })] }),
    );
    expect(next.snapshot?.parentSnapshotId).toBeUndefined();
    expect(next.snapshot?.sequenceNumber).toBe(2n);
    expect(next.snapshot?.summary['total-data-files']).toBe('1');
    expect(await liveNames(context, next)).toEqual(['b']);
  });

  it('lets one of many racing creators win', async () => {
    const store = memoryStore();
    const results = await Promise.allSettled(
      Array.from({ length: 8 }, (_, seed) => {
        const context = memoryContext({ store, seed });
        return createTable(context, context.pointer, request({ mode: seed % 2 === 0 ? 'create' : 'create-if-absent' }));
      }),
    );
    const made = results.filter((result): result is PromiseFulfilledResult<CreatedTable> => result.status === 'fulfilled');
    expect(made.filter(({ value }) => value.created).length).toBe(1);
    expect(new Set(made.map(({ value }) => value.state.tableId)).size).toBe(1);
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ errorClass: 'TABLE_OR_VIEW_ALREADY_EXISTS' });
    }
  });

  it('knows its table again when the answer was lost', async () => {
    const context = memoryContext({ pointer: (own) => new FaultyPointer(own, { loseAnswers: 1 }) });
    expect((await createTable(context, context.pointer, request())).created).toBe(true);
  });
});

describe('createTable with rows', () => {
  let engine: TestEngine;
  beforeAll(async () => {
    engine = await openTestEngine();
  });
  afterAll(async () => {
    await engine.close();
  });

  function localContext(name: string): { readonly context: TableContext; readonly location: string } {
    const location = `${engine.directory}/${name}`;
    const clock = new StepClock();
    const openStore = objectStoreOpener({ clock, ids: new RandomIdSource(new SeededRandom(3)) });
    const files = tableFiles({ name, openStore, roots: () => [location] });
    const pointer = new FileSystemPointer({ name, location, files, clock });
    return { context: { ...memoryContext({ clock }), files, pointer, engine: () => Promise.resolve(engine.engine) }, location };
  }

  const schema = definitionOf().schema;

  it('commits definition and rows in one version, as an append without a parent', async () => {
    const { context, location } = localContext('ctas');
    const rows = await engine.hold(schema, [
      { id: 1n, s: 'x' },
      { id: 2n, s: 'y' },
    ]);
    const { written, state } = await createTable(
      context,
      context.pointer,
      request({ location, rows, definition: { partitionColumns: ['s'] } }),
    );
    expect(written).toMatchObject({ version: 1, rowCount: 2, fileCount: 2 });
    expect(state.snapshot?.parentSnapshotId).toBeUndefined();
    expect(state.snapshot?.summary).toMatchObject({ operation: 'append', 'added-records': '2', 'changed-partition-count': '2' });
    expect(state.loaded.metadataLocation).toBe(`${location}/metadata/v1.metadata.json`);
  });

  it('replaces rows and definition in one version, as an overwrite without a parent', async () => {
    const { context, location } = localContext('rtas');
    const first = await engine.hold(schema, [{ id: 1n, s: 'x' }]);
    await createTable(context, context.pointer, request({ location, rows: first }));
    const second = await engine.hold(schema, [{ id: 2n, s: 'y' }]);
    const { state } = await createTable(context, context.pointer, request({ location, rows: second, mode: 'create-or-replace' }));
    expect(state.snapshot?.parentSnapshotId).toBeUndefined();
    expect(state.snapshot?.summary).toMatchObject({ operation: 'overwrite', 'total-records': '1', 'total-data-files': '1' });
    expect(state.metadata.snapshots.length).toBe(2);
    expect(state.metadata.snapshotLog.length).toBe(2);
    expect(state.version).toBe(2);
  });

  it('leaves nothing behind when the rows cannot be written', async () => {
    const { context, location } = localContext('broken');
    const rows = await engine.hold(schema, [{ id: undefined, s: 'x' }]);
    const required = { schema: { kind: 'struct', fields: plainColumns.map((field) => ({ ...field, nullable: false })) } } as const;
    await expect(createTable(context, context.pointer, request({ location, rows, definition: required }))).rejects.toMatchObject({
      errorClass: 'NOT_NULL_ASSERT_VIOLATION',
    });
    expect(await context.pointer.load(undefined)).toBeUndefined();
  });
});
