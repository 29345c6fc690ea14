import { describe, expect, it } from 'vitest';
import { RandomIdSource } from '../../../src/base/ids.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import type { MetadataAction, ProtocolAction } from '../../../src/delta/actions.ts';
import { mappingModeOf, physicalPath, physicalSchema } from '../../../src/delta/column-mapping/physical-schema.ts';
import { deltaProperties, parseInterval } from '../../../src/delta/properties.ts';
import { parseSchemaString, printSchemaString } from '../../../src/delta/schema-json.ts';
import { firstActions } from '../../../src/delta/table-definition.ts';
import { checkPlainlyReadable, checkReadable, checkRowsWritable, checkWritable } from '../../../src/delta/table-features.ts';
import type { DataType, Field, StructType } from '../../../src/schema/types.ts';

const given = { tableId: 'id', nowMs: 1, ids: new RandomIdSource(new SeededRandom(1)) };

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
    ['COLUMN_ALREADY_EXISTS', definitionOf([fieldOf('a'), fieldOf('A')])],
    ['DELTA_EMPTY_SCHEMA', definitionOf([])],
    ['DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS', definitionOf([fieldOf('_commit_version')], { 'delta.enableChangeDataFeed': 'true' })],
    ['_LEGACY_ERROR_TEMP_3060', definitionOf([fieldOf('a')], {}, ['b'])],
    ['ALL_PARTITION_COLUMNS_NOT_ALLOWED', definitionOf([fieldOf('a')], {}, ['a'])],
    ['INVALID_PARTITION_COLUMN_DATA_TYPE', definitionOf([fieldOf('a'), fieldOf('b', { kind: 'binary' })], {}, ['b'])],
    ['DELTA_UNKNOWN_CONFIGURATION', definitionOf([fieldOf('a')], { 'delta.enableChangeDataFed': 'true' })],
    ['_LEGACY_ERROR_TEMP_2045', definitionOf([fieldOf('a')], { 'delta.logRetentionDuration': 'interval 1 month' })],
    ['_LEGACY_ERROR_TEMP_2045', definitionOf([fieldOf('a')], { 'delta.checkpointInterval': '0' })],
    ['_LEGACY_ERROR_TEMP_2045', definitionOf([fieldOf('a')], { 'delta.enableIcebergCompatV2': 'true' })],
    ['DELTA_INVALID_PROTOCOL_VERSION', definitionOf([fieldOf('a')], { 'delta.minReaderVersion': '4' })],
    ['DELTA_UNSUPPORTED_FEATURE_STATUS', definitionOf([fieldOf('a')], { 'delta.feature.deletionVectors': 'on' })],
    [
      'WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED',
      definitionOf([{ ...fieldOf('a'), metadata: { CURRENT_DEFAULT: '1' } }, fieldOf('b')]),
    ],
  ])('refuses with %s', (code, definition) => {
    expect(() => firstActions('t', definition, given)).toThrow(expect.objectContaining({ code, kind: 'invalid' }) as Error);
  });

  it('refuses a feature it does not know and names the nearest', () => {
    const definition = definitionOf([fieldOf('a')], { 'delta.feature.deletionVector': 'supported' });
    const wanted = { code: 'DELTA_UNSUPPORTED_FEATURES_IN_CONFIG', hint: 'did you mean "delta.feature.deletionVectors"?' };
    expect(() => firstActions('t', definition, given)).toThrow(expect.objectContaining(wanted) as Error);
  });

  it('keeps protocol settings out of the stored properties', () => {
    const asked = { 'delta.feature.deletionVectors': 'supported', 'delta.minWriterVersion': '7', 'delta.minReaderVersion': '3', own: 'x' };
    const { protocol, metadata } = firstActions('t', definitionOf([fieldOf('a')], asked), given);
    expect(metadata.configuration).toEqual({ own: 'x' });
    expect(protocol).toEqual({
      kind: 'protocol',
      minReaderVersion: 3,
      minWriterVersion: 7,
      readerFeatures: ['deletionVectors'],
      writerFeatures: ['appendOnly', 'invariants', 'deletionVectors'],
    });
  });

  it('gives mapped columns ids in order and names of their own, at every level', () => {
    const inner = fieldOf('in ner');
    const fields = [fieldOf('a b'), fieldOf('s', { kind: 'list', element: { kind: 'struct', fields: [inner] }, elementNullable: true })];
    const { protocol, metadata } = firstActions('t', definitionOf(fields, { 'delta.columnMapping.mode': 'name' }), given);
    expect(protocol).toMatchObject({ minReaderVersion: 2, minWriterVersion: 7, readerFeatures: undefined });
    expect(metadata.configuration).toEqual({ 'delta.columnMapping.mode': 'name', 'delta.columnMapping.maxColumnId': '3' });
    const schema = parseSchemaString(metadata.schemaString, 't');
    const mode = mappingModeOf(protocol, metadata);
    const names = physicalPath(schema, ['s', 'element', 'in ner'], mode);
    expect(names).toEqual([expect.stringMatching(/^col-[0-9a-f-]{36}$/), 'element', expect.stringMatching(/^col-[0-9a-f-]{36}$/)]);
    const physical = physicalSchema(schema, mode);
    expect(physical.fields.map((field) => field.id)).toEqual([1, 2]);
    expect(physical.fields[1]?.type).toMatchObject({ kind: 'list', element: { fields: [{ name: names[2], id: 3 }] } });
    expect(physicalSchema(schema, 'none')).toBe(schema);
  });

  it('names the hidden columns of a table that tracks rows, and takes domain metadata along', () => {
    const { protocol, metadata } = firstActions('t', definitionOf([fieldOf('a')], { 'delta.enableRowTracking': 'true' }), given);
    expect(protocol.writerFeatures).toEqual(['appendOnly', 'invariants', 'domainMetadata', 'rowTracking']);
    expect(metadata.configuration).toMatchObject({
      'delta.rowTracking.materializedRowIdColumnName': expect.stringMatching(/^_row-id-col-/) as string,
      'delta.rowTracking.materializedRowCommitVersionColumnName': expect.stringMatching(/^_row-commit-version-col-/) as string,
    });
  });

  it('clusters by columns of any case and refuses partitions beside them', () => {
    const columns = [fieldOf('a'), fieldOf('B')];
    const { protocol, domains } = firstActions('t', definitionOf(columns), { ...given, clusterBy: [['b']] });
    expect(protocol.writerFeatures).toEqual(['appendOnly', 'invariants', 'domainMetadata', 'clustering']);
    expect(domains).toEqual([
      {
        kind: 'domainMetadata',
        domain: 'delta.clustering',
        configuration: '{"clusteringColumns":[["B"]],"domainName":"delta.clustering"}',
        removed: false,
      },
    ]);
    expect(() => firstActions('t', definitionOf(columns, {}, ['a']), { ...given, clusterBy: [['b']] })).toThrow(/Clustering and partition/);
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
    const byName = metadataOf({ 'delta.columnMapping.mode': 'name' });
    expect(() => {
      checkWritable(mapped, byName, struct, 't');
    }).toThrow(/columnMapping \(mode name\)/);
    expect(() => {
      checkPlainlyReadable(mapped, byName, 't');
    }).toThrow(/columnMapping \(mode name\)/);
    checkRowsWritable(mapped, byName, 't');
    checkWritable(legacy, byName, struct, 't');
  });

  it('are read and written where a table has variants, shredded or not', () => {
    const variants = protocol(['variantType', 'variantShredding-preview'], []);
    checkReadable(variants, metadataOf(), 't');
    checkRowsWritable(variants, metadataOf(), 't');
  });

  it('for Iceberg stand in nobody’s way while they are off', () => {
    const listed = protocol([], ['icebergCompatV2']);
    checkRowsWritable(listed, metadataOf(), 't');
    expect(() => {
      checkRowsWritable(listed, metadataOf({ 'delta.enableIcebergCompatV2': 'true' }), 't');
    }).toThrow(/icebergCompatV2/);
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
    const unsupported = { ...wrong, kind: 'unsupported', sqlState: 'KD004' };
    expect(check({ minReaderVersion: 4, minWriterVersion: 7, writerFeatures: [] })).toThrow(expect.objectContaining(unsupported) as Error);
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
