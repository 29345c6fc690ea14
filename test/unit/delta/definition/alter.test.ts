import { describe, expect, it } from 'vitest';
import type { Field } from '../../../../src/schema/types.ts';
import type { DefinitionChange } from '../../../../src/table/definition-changes.ts';
import { altered, DefinitionBench, definitionOf, fieldOf, long, metadataOf, protocolOf, structOf, text } from './definition-bench.ts';

const mapped = { 'delta.columnMapping.mode': 'name' };
const two = structOf(fieldOf('id'), fieldOf('s', structOf(fieldOf('a', { kind: 'integer' }))));

const refused = (errorClass: string): Error => expect.objectContaining({ name: 'AnalysisException', errorClass }) as Error;
const names = (fields: readonly Field[]): readonly string[] => fields.map((field) => field.name);

async function refusal(bench: DefinitionBench, change: DefinitionChange): Promise<unknown> {
  const table = await bench.tables.open('t', 'memory://t');
  return table?.operations.alter(change).catch((error: unknown) => error);
}

describe('ALTER TABLE … ADD COLUMNS', () => {
  it('puts columns where they are asked for, in structs too, and says so in the history', async () => {
    const bench = new DefinitionBench();
    const table = await bench.create(definitionOf(two));
    const snapshot = await altered(table, {
      kind: 'add-columns',
      columns: [
        { parent: [], field: fieldOf('first', text), place: { kind: 'first' } },
        { parent: [], field: fieldOf('mid', { kind: 'double' }), place: { kind: 'after', sibling: 'ID' } },
        { parent: ['S'], field: fieldOf('b', text, { metadata: { comment: 'nested' } }), place: { kind: 'first' } },
      ],
    });
    expect(snapshot.version).toBe(1);
    expect(names(snapshot.schema.fields)).toEqual(['first', 'id', 'mid', 's']);
    expect(snapshot.schema.fields[3]?.type).toMatchObject({ fields: [{ name: 'b' }, { name: 'a' }] });
    const { info, actions } = await bench.commit(1);
    expect(info).toMatchObject({ operation: 'ADD COLUMNS', readVersion: 0, isolationLevel: 'Serializable', isBlindAppend: true });
    expect(info['operationParameters']).toEqual({
      columns:
        '[{"column":{"name":"first","type":"string","nullable":true,"metadata":{}},"position":"FIRST"},' +
        '{"column":{"name":"mid","type":"double","nullable":true,"metadata":{}},"position":"AFTER ID"},' +
        '{"column":{"name":"s.b","type":"string","nullable":true,"metadata":{"comment":"nested"}},"position":"FIRST"}]',
    });
    expect(actions.map((action) => action.kind)).toEqual(['metaData']);
  });

  it('gives columns of a mapped table ids that were never used, and names of their own', async () => {
    const bench = new DefinitionBench();
    const table = await bench.create(definitionOf(two, mapped));
    await altered(table, { kind: 'drop-columns', paths: [['s']] });
    const snapshot = await altered(table, { kind: 'add-columns', columns: [{ parent: [], field: fieldOf('s p', text) }] });
    expect(snapshot.schema.fields[1]).toMatchObject({
      name: 's p',
      metadata: { 'delta.columnMapping.id': 4, 'delta.columnMapping.physicalName': expect.stringMatching(/^col-/) as string },
    });
    expect(snapshot.properties['delta.columnMapping.maxColumnId']).toBe('4');
  });

  it.each<[string, Partial<Extract<DefinitionChange, { kind: 'add-columns' }>['columns'][number]>]>([
    ['FIELD_ALREADY_EXISTS', { field: fieldOf('ID') }],
    ['FIELD_NOT_FOUND', { field: fieldOf('x'), place: { kind: 'after', sibling: 'no' } }],
    ['UNRESOLVED_COLUMN.WITH_SUGGESTION', { parent: ['no'], field: fieldOf('x') }],
    ['INVALID_FIELD_NAME', { parent: ['id'], field: fieldOf('x') }],
    ['DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES', { field: fieldOf('x y') }],
    ['DELTA_OPERATION_NOT_ALLOWED', { field: fieldOf('x', long, { nullable: false }) }],
    ['DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT', { field: fieldOf('x', { kind: 'timestamp_ntz' }) }],
    [
      'WRONG_COLUMN_DEFAULTS_FOR_DELTA_ALTER_TABLE_ADD_COLUMN_NOT_SUPPORTED',
      { field: fieldOf('x', long, { metadata: { CURRENT_DEFAULT: '1' } }) },
    ],
  ])('refuses with %s and changes nothing', async (errorClass, column) => {
    const bench = new DefinitionBench();
    const table = await bench.create(definitionOf(two));
    const change: DefinitionChange = { kind: 'add-columns', columns: [{ parent: [], field: fieldOf('x'), ...column }] };
    await expect(table.operations.alter(change)).rejects.toThrow(refused(errorClass));
    expect((await table.refresh()).version).toBe(0);
  });

  it('takes a local time where its feature was asked for by name', async () => {
    const table = await new DefinitionBench().create(definitionOf(two));
    await altered(table, { kind: 'add-feature', feature: 'timestampntz' });
    const snapshot = await altered(table, {
      kind: 'add-columns',
      columns: [{ parent: [], field: fieldOf('n', { kind: 'timestamp_ntz' }) }],
    });
    expect(snapshot.protocol).toMatchObject({ minReaderVersion: 3, readerFeatures: ['timestampNtz'] });
  });
});

describe('ALTER TABLE … RENAME and DROP COLUMN', () => {
  it('keeps ids and physical names, and partitioning follows', async () => {
    const bench = new DefinitionBench();
    const table = await bench.create(definitionOf(two, mapped, ['id']));
    const before = (await table.refresh()).schema;
    const renamed = await altered(table, { kind: 'rename-column', path: ['ID'], to: 'zo ne' });
    expect(renamed.partitionColumns).toEqual(['zo ne']);
    expect(renamed.schema.fields[0]?.metadata).toEqual(before.fields[0]?.metadata);
    await altered(table, { kind: 'rename-column', path: ['s', 'a'], to: 'new;' });
    expect((await bench.commit(2)).info).toMatchObject({
      operation: 'RENAME COLUMN',
      operationParameters: { oldColumnPath: 's.a', newColumnPath: 's.new;' },
    });
  });

  it('drops members of structs', async () => {
    const bench = new DefinitionBench();
    const wide = structOf(fieldOf('id'), fieldOf('s', structOf(fieldOf('a'), fieldOf('b'))));
    const table = await bench.create(definitionOf(wide, mapped));
    const snapshot = await altered(table, { kind: 'drop-columns', paths: [['s', 'A']] });
    expect(snapshot.schema.fields[1]?.type).toMatchObject({ fields: [{ name: 'b' }] });
    expect((await bench.commit(1)).info).toMatchObject({ operation: 'DROP COLUMNS', operationParameters: { columns: '["s.a"]' } });
    expect(await table.operations.alter({ kind: 'drop-columns', paths: [['no']], ifExists: true })).toBeUndefined();
  });

  it.each<[string, DefinitionChange, Record<string, string>]>([
    ['DELTA_UNSUPPORTED_RENAME_COLUMN', { kind: 'rename-column', path: ['id'], to: 'x' }, {}],
    ['DELTA_UNSUPPORTED_DROP_COLUMN', { kind: 'drop-columns', paths: [['id']] }, {}],
    ['FIELD_ALREADY_EXISTS', { kind: 'rename-column', path: ['id'], to: 'S' }, mapped],
    ['UNRESOLVED_COLUMN.WITH_SUGGESTION', { kind: 'drop-columns', paths: [['no']] }, mapped],
    ['DELTA_DROP_COLUMN_ON_SINGLE_FIELD_SCHEMA', { kind: 'drop-columns', paths: [['s', 'a']] }, mapped],
    ['DELTA_UNSUPPORTED_DROP_PARTITION_COLUMN', { kind: 'drop-columns', paths: [['id']] }, mapped],
  ])('refuses with %s', async (errorClass, change, properties) => {
    const bench = new DefinitionBench();
    await bench.create(definitionOf(two, properties, ['id']));
    expect(await refusal(bench, change)).toMatchObject({ errorClass });
  });

  it('refuses to take away what a constraint or a generated column is about', async () => {
    const bench = new DefinitionBench();
    const generated = fieldOf('g', long, { metadata: { 'delta.generationExpression': 's.a + 1L' } });
    const table = await bench.create(definitionOf(structOf(...two.fields, generated), mapped));
    expect(await refusal(bench, { kind: 'rename-column', path: ['s'], to: 'x' })).toMatchObject({
      errorClass: 'DELTA_GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE',
    });
    await altered(table, { kind: 'rename-column', path: ['id'], to: 'x' });
  });
});

describe('ALTER TABLE … ALTER COLUMN', () => {
  it('widens types and notes what they were, beside the element of a list too', async () => {
    const bench = new DefinitionBench();
    const list = { kind: 'list', element: { kind: 'short' }, elementNullable: true } as const;
    const schema = structOf(fieldOf('a', { kind: 'byte' }), fieldOf('l', list), fieldOf('e', { kind: 'decimal', precision: 6, scale: 2 }));
    const table = await bench.create(definitionOf(schema, { 'delta.enableTypeWidening': 'true' }));
    await altered(table, { kind: 'change-type', path: ['A'], type: { kind: 'integer' } });
    await altered(table, { kind: 'change-type', path: ['l', 'element'], type: { kind: 'integer' } });
    await altered(table, { kind: 'change-type', path: ['e'], type: { kind: 'decimal', precision: 12, scale: 4 } });
    const snapshot = await altered(table, { kind: 'change-type', path: ['a'], type: long });
    expect(snapshot.schema.fields[0]).toMatchObject({
      type: long,
      metadata: {
        'delta.typeChanges': [
          { toType: 'integer', fromType: 'byte' },
          { toType: 'long', fromType: 'integer' },
        ],
      },
    });
    expect(snapshot.schema.fields[1]).toMatchObject({
      type: { element: { kind: 'integer' } },
      metadata: { 'delta.typeChanges': [{ toType: 'integer', fromType: 'short', fieldPath: 'element' }] },
    });
    expect(snapshot.schema.fields[2]).toMatchObject({
      metadata: { 'delta.typeChanges': [{ toType: 'decimal(12,4)', fromType: 'decimal(6,2)' }] },
    });
    expect(snapshot.protocol.readerFeatures).toEqual(['typeWidening']);
    const shown = '{"name":"a","type":"long","nullable":true,"metadata":{"delta.typeChanges":[{"toType":"integer","fromType":"byte"}]}}';
    expect((await bench.commit(4)).info).toMatchObject({ operation: 'CHANGE COLUMN', operationParameters: { column: shown } });
  });

  it.each<[string, DefinitionChange]>([
    ['DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP', { kind: 'change-type', path: ['s', 'a'], type: long }],
    ['DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP', { kind: 'change-type', path: ['id'], type: text }],
    ['NOT_SUPPORTED_CHANGE_COLUMN', { kind: 'change-type', path: ['id'], type: { kind: 'integer' } }],
    ['CANNOT_UPDATE_FIELD', { kind: 'change-type', path: ['s'], type: long }],
    ['_LEGACY_ERROR_TEMP_2330', { kind: 'change-nullability', path: ['id'], nullable: false }],
    ['WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED', { kind: 'change-default', path: ['id'], expression: '1' }],
    ['UNRESOLVED_COLUMN.WITH_SUGGESTION', { kind: 'change-comment', path: ['no'], comment: 'x' }],
    ['UNRESOLVED_COLUMN.WITH_SUGGESTION', { kind: 'move-column', path: ['id'], place: { kind: 'after', sibling: 'no' } }],
    ['INVALID_FIELD_NAME', { kind: 'change-comment', path: ['id', 'x'], comment: 'x' }],
    ['DELTA_IDENTITY_COLUMNS_ALTER_NON_IDENTITY_COLUMN', { kind: 'sync-identity', path: ['id'] }],
  ])('refuses with %s', async (errorClass, change) => {
    const bench = new DefinitionBench();
    await bench.create(definitionOf(two));
    expect(await refusal(bench, change)).toMatchObject({ errorClass });
  });

  it('changes comment, place, nullability and default, and commits nothing when nothing changes', async () => {
    const bench = new DefinitionBench();
    const schema = structOf(fieldOf('id', { kind: 'integer' }, { nullable: false }), fieldOf('v', text));
    const table = await bench.create(definitionOf(schema, { 'delta.feature.allowColumnDefaults': 'supported' }));
    await altered(table, { kind: 'change-comment', path: ['id'], comment: 'key' });
    await altered(table, { kind: 'change-nullability', path: ['id'], nullable: true });
    await altered(table, { kind: 'move-column', path: ['v'], place: { kind: 'first' } });
    const snapshot = await altered(table, { kind: 'change-default', path: ['v'], expression: "'new'" });
    expect(snapshot.schema.fields).toEqual([
      { name: 'v', type: text, nullable: true, metadata: { CURRENT_DEFAULT: "'new'" } },
      { name: 'id', type: { kind: 'integer' }, nullable: true, metadata: { comment: 'key' } },
    ]);
    expect((await bench.commit(2)).info).toMatchObject({
      operationParameters: { column: '{"name":"id","type":"integer","nullable":true,"metadata":{"comment":"key"}}' },
    });
    expect((await bench.commit(3)).info).toMatchObject({ operation: 'CHANGE COLUMN', operationParameters: { position: 'FIRST' } });
    expect(await table.operations.alter({ kind: 'change-comment', path: ['id'], comment: 'key' })).toBeUndefined();
    expect((await table.refresh()).version).toBe(4);
  });
});

describe('ALTER TABLE … properties and protocol', () => {
  it('stores properties in canonical spelling and upgrades the protocol in the same version', async () => {
    const bench = new DefinitionBench();
    const table = await bench.create(definitionOf(two, { 'my.prop': '1' }));
    const snapshot = await altered(table, {
      kind: 'set-properties',
      properties: { 'DELTA.enableChangeDataFEED': 'true', 'my.prop': '2', 'delta.feature.domainMetadata': 'supported' },
    });
    expect(snapshot.properties).toEqual({ 'delta.enableChangeDataFeed': 'true', 'my.prop': '2' });
    const { info, actions } = await bench.commit(1);
    expect(info).toMatchObject({ operation: 'SET TBLPROPERTIES' });
    expect(info['operationParameters']).toEqual({
      properties: '{"delta.feature.domainMetadata":"supported","delta.enableChangeDataFeed":"true","my.prop":"2"}',
    });
    expect(protocolOf(actions)).toMatchObject({
      minReaderVersion: 1,
      minWriterVersion: 7,
      writerFeatures: ['appendOnly', 'invariants', 'changeDataFeed', 'domainMetadata'],
    });
    const unset = await altered(table, { kind: 'unset-properties', keys: ['my.prop'], ifExists: true });
    expect(unset.properties).toEqual({ 'delta.enableChangeDataFeed': 'true' });
    expect((await bench.commit(2)).info).toMatchObject({
      operation: 'UNSET TBLPROPERTIES',
      operationParameters: { properties: '["my.prop"]', ifExists: true },
    });
  });

  it('maps the columns of a table that is there by the names its files have', async () => {
    const table = await new DefinitionBench().create(definitionOf(two));
    const snapshot = await altered(table, { kind: 'set-properties', properties: mapped });
    expect(snapshot.mapping).toBe('name');
    expect(snapshot.protocol).toMatchObject({ minReaderVersion: 2, minWriterVersion: 7 });
    expect(snapshot.schema.fields.map((field) => field.metadata)).toEqual([
      { 'delta.columnMapping.id': 1, 'delta.columnMapping.physicalName': 'id' },
      { 'delta.columnMapping.id': 2, 'delta.columnMapping.physicalName': 's' },
    ]);
    expect(snapshot.properties['delta.columnMapping.maxColumnId']).toBe('3');
  });

  it('dates the switch to in-commit timestamps', async () => {
    const bench = new DefinitionBench();
    const table = await bench.create(definitionOf(two));
    const snapshot = await altered(table, { kind: 'set-properties', properties: { 'delta.enableInCommitTimestamps': 'true' } });
    const { info } = await bench.commit(1);
    expect(snapshot.properties).toEqual({
      'delta.enableInCommitTimestamps': 'true',
      'delta.inCommitTimestampEnablementVersion': '1',
      'delta.inCommitTimestampEnablementTimestamp': String(info['inCommitTimestamp']),
    });
    expect(snapshot.committedAt).toBe(info['inCommitTimestamp']);
  });

  it('gives row ids to the files that are there when rows are to be tracked', async () => {
    const bench = new DefinitionBench();
    const created = await bench.create(definitionOf(two));
    const base = await created.refresh();
    const staged = ['a', 'b'].map((path) => ({ path, partitionValues: {}, sizeBytes: 9, rowCount: 5, modifiedMs: 7, statistics: [] }));
    const stagedSinceMs = bench.clock.monotonicMs();
    await created.tryAppend(base, { commitId: bench.ids.uuid() as never, files: staged, stagedSinceMs, progress: [], userMetadata: '' });
    const snapshot = await altered(created, { kind: 'set-properties', properties: { 'delta.enableRowTracking': 'true' } });
    const ids = [...snapshot.files()].map((file) => [file.baseRowId, file.defaultRowCommitVersion, file.dataChange]);
    expect(ids.toSorted()).toEqual([
      [0n, 2n, false],
      [5n, 2n, false],
    ]);
    expect([...snapshot.domains()].map((domain) => domain.configuration)).toEqual([
      '{"rowIdHighWaterMark":9,"domainName":"delta.rowTracking"}',
    ]);
    expect((await bench.commit(2)).info).toMatchObject({ isBlindAppend: false });
  });

  it.each<[string, DefinitionChange]>([
    ['DELTA_UNKNOWN_CONFIGURATION', { kind: 'set-properties', properties: { 'delta.unknownThing': '1' } }],
    ['_LEGACY_ERROR_TEMP_2045', { kind: 'set-properties', properties: { 'delta.checkpointInterval': '-1' } }],
    ['DELTA_CANNOT_MODIFY_TABLE_PROPERTY', { kind: 'set-properties', properties: { 'delta.columnMapping.maxColumnId': '9' } }],
    ['DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE', { kind: 'set-properties', properties: { 'delta.columnMapping.mode': 'id' } }],
    ['DELTA_CONSTRAINT_DOES_NOT_EXIST', { kind: 'drop-constraint', name: 'no', ifExists: false }],
    ['DELTA_UNSUPPORTED_FEATURES_IN_CONFIG', { kind: 'add-feature', feature: 'someday' }],
    ['DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT', { kind: 'drop-feature', feature: 'clustering' }],
    ['DELTA_FEATURE_DROP_NONREMOVABLE_FEATURE', { kind: 'drop-feature', feature: 'appendOnly' }],
    ['UNRESOLVED_COLUMN.WITH_SUGGESTION', { kind: 'cluster-by', columns: [['no']] }],
  ])('refuses with %s', async (errorClass, change) => {
    const bench = new DefinitionBench();
    await bench.create(definitionOf(two));
    expect(await refusal(bench, change)).toMatchObject({ errorClass });
  });

  it('upgrades to a legacy protocol as a whole, and drops a feature that is not in use any more', async () => {
    const bench = new DefinitionBench();
    const table = await bench.create(definitionOf(two));
    const legacy = await altered(table, { kind: 'upgrade-protocol', minReaderVersion: 1, minWriterVersion: 3 });
    expect(legacy.protocol).toEqual({ kind: 'protocol', minReaderVersion: 1, minWriterVersion: 3 });
    expect((await bench.commit(1)).info).toMatchObject({
      operation: 'UPGRADE PROTOCOL',
      operationParameters: { newProtocol: '{"minReaderVersion":1,"minWriterVersion":3}' },
    });
    const fed = await altered(table, { kind: 'set-properties', properties: { 'delta.enableChangeDataFeed': 'true' } });
    expect(fed.protocol.writerFeatures).toEqual(['appendOnly', 'invariants', 'checkConstraints', 'changeDataFeed']);
    expect(await refusal(bench, { kind: 'drop-feature', feature: 'changeDataFeed' })).toMatchObject({
      errorClass: 'DELTA_FEATURE_DROP_FEATURE_IN_USE',
    });
    await altered(table, { kind: 'set-properties', properties: { 'delta.enableChangeDataFeed': 'false' } });
    const dropped = await altered(table, { kind: 'drop-feature', feature: 'changedatafeed' });
    expect(dropped.protocol).toEqual({ kind: 'protocol', minReaderVersion: 1, minWriterVersion: 3 });
  });

  it('clusters by columns, by physical name, and names both layouts in the history', async () => {
    const bench = new DefinitionBench();
    const table = await bench.create(definitionOf(two));
    await altered(table, { kind: 'cluster-by', columns: [['ID'], ['s', 'a']] });
    const { info, actions } = await bench.commit(1);
    expect(info).toMatchObject({
      operation: 'CLUSTER BY',
      operationParameters: { oldClusteringColumns: '', newClusteringColumns: 'id,s.a' },
    });
    expect(actions.map((action) => action.kind)).toEqual(['protocol', 'domainMetadata']);
    expect((await table.detail()).clusteringColumns).toEqual(['id', 's.a']);
    await altered(table, { kind: 'cluster-by', columns: [] });
    expect((await table.detail()).clusteringColumns).toEqual([]);
  });

  it('describes the table', async () => {
    const bench = new DefinitionBench();
    const table = await bench.create(definitionOf(two));
    expect((await altered(table, { kind: 'comment', comment: 'ours' })).metadata.description).toBe('ours');
    expect(metadataOf((await bench.commit(1)).actions)?.configuration).toEqual({});
    expect((await altered(table, { kind: 'comment', comment: undefined })).metadata.description).toBeUndefined();
  });
});
