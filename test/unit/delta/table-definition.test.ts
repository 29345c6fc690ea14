import { describe, expect, it } from 'vitest';
import type { MetadataAction, ProtocolAction } from '../../../src/delta/actions.ts';
import { deltaProperties, parseInterval } from '../../../src/delta/properties.ts';
import { parseSchemaString, printSchemaString } from '../../../src/delta/schema-json.ts';
import { firstActions } from '../../../src/delta/table-definition.ts';
import { checkReadable, checkWritable } from '../../../src/delta/table-features.ts';
import type { DataType, Field, StructType } from '../../../src/schema/types.ts';

const given = { tableId: 'id', nowMs: 1 };

function fieldOf(name: string, type: DataType = { kind: 'long' }): Field {
  return { name, type, nullable: true };
}

function definitionOf(fields: readonly Field[], properties: Record<string, string> = {}, partitionColumns: readonly string[] = []) {
  return { schema: { kind: 'struct', fields } as const, partitionColumns, properties };
}

function metadataOf(configuration: Record<string, string> = {}): MetadataAction {
  return { kind: 'metaData', id: 'i', formatProvider: 'parquet', formatOptions: {}, schemaString: '', partitionColumns: [], configuration };
}

const struct: StructType = { kind: 'struct', fields: [fieldOf('a')] };

describe('firstActions', () => {
  it('asks for the weakest protocol that covers what is used', () => {
    const protocol = (fields: readonly Field[], properties: Record<string, string> = {}): ProtocolAction =>
      firstActions('t', definitionOf(fields, properties), given).protocol;
    const feed = { 'DELTA.enablechangedatafeed': 'true' };
    const local = fieldOf('n', { kind: 'list', element: { kind: 'timestamp_ntz' }, elementNullable: true });
    expect(protocol([fieldOf('a')])).toEqual({ kind: 'protocol', minReaderVersion: 1, minWriterVersion: 2 });
    expect(protocol([fieldOf('a')], feed)).toEqual({
      kind: 'protocol',
      minReaderVersion: 1,
      minWriterVersion: 7,
      writerFeatures: ['appendOnly', 'invariants', 'changeDataFeed'],
    });
    expect(protocol([local], feed)).toEqual({
      kind: 'protocol',
      minReaderVersion: 3,
      minWriterVersion: 7,
      readerFeatures: ['timestampNtz'],
      writerFeatures: ['appendOnly', 'invariants', 'changeDataFeed', 'timestampNtz'],
    });
  });

  it.each<[string, ReturnType<typeof definitionOf>]>([
    ['DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES', definitionOf([fieldOf('a b')])],
    ['DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES', definitionOf([fieldOf('s', { kind: 'struct', fields: [fieldOf('x=y')] })])],
    ['DELTA_DUPLICATE_COLUMNS_FOUND', definitionOf([fieldOf('a'), fieldOf('A')])],
    ['DELTA_EMPTY_SCHEMA', definitionOf([])],
    ['DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS', definitionOf([fieldOf('_commit_version')], { 'delta.enableChangeDataFeed': 'true' })],
    ['DELTA_PARTITION_COLUMNS_INVALID', definitionOf([fieldOf('a')], {}, ['b'])],
    ['DELTA_PARTITION_COLUMNS_INVALID', definitionOf([fieldOf('a')], {}, ['a'])],
    ['DELTA_PARTITION_COLUMNS_INVALID', definitionOf([fieldOf('a'), fieldOf('b', { kind: 'binary' })], {}, ['b'])],
    ['DELTA_PROPERTY_INVALID', definitionOf([fieldOf('a')], { 'delta.enableChangeDataFed': 'true' })],
    ['DELTA_PROPERTY_INVALID', definitionOf([fieldOf('a')], { 'delta.columnMapping.mode': 'name' })],
    ['DELTA_PROPERTY_INVALID', definitionOf([fieldOf('a')], { 'delta.logRetentionDuration': 'interval 1 month' })],
  ])('refuses with %s', (code, definition) => {
    expect(() => firstActions('t', definition, given)).toThrow(expect.objectContaining({ code, kind: 'invalid' }) as Error);
  });
});

describe('table features', () => {
  const protocol = (readerFeatures: readonly string[], writerFeatures: readonly string[]): ProtocolAction => ({
    kind: 'protocol',
    minReaderVersion: 3,
    minWriterVersion: 7,
    readerFeatures,
    writerFeatures: [...readerFeatures, ...writerFeatures],
  });

  it('are refused by name when unknown: for reading or only for writing', () => {
    const message = expect.stringContaining('someday') as string;
    expect(() => {
      checkReadable(protocol(['someday'], []), metadataOf(), 't');
    }).toThrow(expect.objectContaining({ code: 'DELTA_UNSUPPORTED_FEATURES_FOR_READ', message }) as Error);
    checkReadable(protocol([], ['someday']), metadataOf(), 't');
    expect(() => {
      checkWritable(protocol([], ['someday']), metadataOf(), struct, 't');
    }).toThrow(expect.objectContaining({ code: 'DELTA_UNSUPPORTED_FEATURES_FOR_WRITE', message }) as Error);
  });

  it('cost nothing while they are listed and inactive', () => {
    const listed = protocol(
      ['columnMapping', 'deletionVectors'],
      ['checkConstraints', 'generatedColumns', 'invariants', 'identityColumns'],
    );
    checkWritable(listed, metadataOf(), struct, 't');
    checkWritable({ kind: 'protocol', minReaderVersion: 1, minWriterVersion: 4 }, metadataOf(), struct, 't');
  });

  it('are refused by name when their duties are not kept here', () => {
    const legacy: ProtocolAction = { kind: 'protocol', minReaderVersion: 1, minWriterVersion: 4 };
    const refused = (metadata: MetadataAction, schema: StructType, name: string): void => {
      const message = expect.stringContaining(name) as string;
      expect(() => {
        checkWritable(legacy, metadata, schema, 't');
      }).toThrow(expect.objectContaining({ code: 'DELTA_UNSUPPORTED_FEATURES_FOR_WRITE', message }) as Error);
    };
    const nested = (key: string): StructType => {
      const inner: Field = { ...fieldOf('b'), metadata: { [key]: 'x' } };
      return { kind: 'struct', fields: [fieldOf('s', { kind: 'struct', fields: [inner] })] };
    };
    refused(metadataOf({ 'delta.constraints.positive': 'a > 0' }), struct, 'positive');
    refused(metadataOf(), nested('delta.invariants'), 's.b');
    refused(metadataOf(), nested('delta.generationExpression'), 'generatedColumns');
    const mapped = { kind: 'protocol', minReaderVersion: 2, minWriterVersion: 5 } as const;
    expect(() => {
      checkReadable(mapped, metadataOf({ 'delta.columnMapping.mode': 'name' }), 't');
    }).toThrow(/columnMapping \(mode name\)/);
  });

  it('must fit the protocol versions', () => {
    const wrong = { code: 'DELTA_INVALID_PROTOCOL_VERSION' };
    const check = (action: Omit<ProtocolAction, 'kind'>) => (): void => {
      checkReadable({ kind: 'protocol', ...action }, metadataOf(), 't');
    };
    expect(check({ minReaderVersion: 1, minWriterVersion: 7, readerFeatures: [], writerFeatures: [] })).toThrow(
      expect.objectContaining(wrong) as Error,
    );
    expect(check({ minReaderVersion: 1, minWriterVersion: 7 })).toThrow(expect.objectContaining(wrong) as Error);
    expect(check({ minReaderVersion: 3, minWriterVersion: 7, readerFeatures: ['deletionVectors'], writerFeatures: [] })).toThrow(
      expect.objectContaining(wrong) as Error,
    );
    expect(check({ minReaderVersion: 4, minWriterVersion: 7, writerFeatures: [] })).toThrow(expect.objectContaining(wrong) as Error);
  });
});

describe('properties and schemas', () => {
  it('read intervals as other engines spell them', () => {
    expect(['interval 1 week', '7 days', 'INTERVAL 168 HOURS', 'interval 6 days 24 hours'].map(parseInterval)).toEqual(
      Array(4).fill(604_800_000),
    );
    expect(['interval 1 month', '7', '', 'interval', '1 year', '-1 days'].map(parseInterval)).toEqual(Array(6).fill(undefined));
    expect(() => deltaProperties({ 'delta.checkpointInterval': '0' }, 't')).toThrow(/checkpointInterval/);
  });

  it('come back as they were written, with everything unknown in field metadata', () => {
    const text =
      '{"type":"struct","fields":[{"name":"m","type":{"type":"map","keyType":"string","valueType":{"type":"array","elementType":' +
      '"decimal(38,10)","containsNull":false},"valueContainsNull":true},"nullable":false,"metadata":{"x":9007199254740993,"y":{"z":[]}}}]}';
    expect(printSchemaString(parseSchemaString(text, 't'))).toBe(text);
  });
});
