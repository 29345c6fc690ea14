import { ServiceError } from '../base/errors.ts';
import { nearestName } from '../base/nearest-name.ts';
import { describeType } from '../schema/describe-type.ts';
import type { DataType, StructType } from '../schema/types.ts';
import type { TableDefinition } from '../table/table.ts';
import type { MetadataAction, ProtocolAction } from './actions.ts';
import { deltaProperties } from './properties.ts';
import { printSchemaString } from './schema-json.ts';

/** Properties a table can be created with. Those that switch on a feature this code does not write are left out. */
const knownProperties: readonly string[] = [
  'delta.appendOnly',
  'delta.checkpointInterval',
  'delta.checkpoint.writeStatsAsJson',
  'delta.checkpoint.writeStatsAsStruct',
  'delta.dataSkippingNumIndexedCols',
  'delta.deletedFileRetentionDuration',
  'delta.enableChangeDataFeed',
  'delta.enableExpiredLogCleanup',
  'delta.isolationLevel',
  'delta.logRetentionDuration',
  'delta.parquet.compression.codec',
  'delta.setTransactionRetentionDuration',
];

/** Columns the change feed adds to rows. */
export const feedColumns: readonly string[] = ['_change_type', '_commit_version', '_commit_timestamp'];

/**
 * The first actions of a table.
 *
 * @throws ServiceError (kind invalid) `DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES`, `DELTA_DUPLICATE_COLUMNS_FOUND`,
 * `DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS`, `DELTA_PARTITION_COLUMNS_INVALID`, `DELTA_PROPERTY_INVALID`.
 */
export function firstActions(
  table: string,
  definition: TableDefinition,
  given: { readonly tableId: string; readonly nowMs: number },
): { readonly protocol: ProtocolAction; readonly metadata: MetadataAction } {
  const configuration = canonicalProperties(table, definition.properties);
  const settings = deltaProperties(configuration, table);
  checkColumns(table, definition.schema, '');
  checkPartitionColumns(table, definition);
  if (settings.changeDataFeed) checkFeedColumns(table, definition.schema);
  return {
    protocol: weakestProtocol({ changeDataFeed: settings.changeDataFeed, timestampNtz: hasLocalTimestamp(definition.schema) }),
    metadata: {
      kind: 'metaData',
      id: given.tableId,
      name: table,
      formatProvider: 'parquet',
      formatOptions: {},
      schemaString: printSchemaString(definition.schema),
      partitionColumns: definition.partitionColumns,
      configuration,
      createdTimeMs: given.nowMs,
    },
  };
}

/** What covers the features in use and no more: engines refuse what they do not know, even unused. */
function weakestProtocol(used: { readonly changeDataFeed: boolean; readonly timestampNtz: boolean }): ProtocolAction {
  if (!used.changeDataFeed && !used.timestampNtz) return { kind: 'protocol', minReaderVersion: 1, minWriterVersion: 2 };
  const feed = used.changeDataFeed ? ['changeDataFeed'] : [];
  const local = used.timestampNtz ? ['timestampNtz'] : [];
  return {
    kind: 'protocol',
    minReaderVersion: used.timestampNtz ? 3 : 1,
    minWriterVersion: 7,
    readerFeatures: used.timestampNtz ? local : undefined,
    writerFeatures: ['appendOnly', 'invariants', ...feed, ...local],
  };
}

/** Keys are case-insensitive when set and stored in their canonical spelling. */
function canonicalProperties(table: string, properties: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const canonical = new Map(knownProperties.map((key) => [key.toLowerCase(), key]));
  const entries = Object.entries(properties).map(([key, value]): readonly [string, string] => {
    if (!key.toLowerCase().startsWith('delta.')) return [key, value];
    const known = canonical.get(key.toLowerCase());
    if (known !== undefined) return [known, value];
    const nearest = nearestName(key, knownProperties);
    throw new ServiceError({
      code: 'DELTA_PROPERTY_INVALID',
      kind: 'invalid',
      message: `table "${table}": property "${key}" is unknown or asks for a feature that is not written`,
      hint: nearest === undefined ? `known are ${knownProperties.join(', ')}` : `did you mean "${nearest}"?`,
    });
  });
  return Object.fromEntries(entries);
}

function checkColumns(table: string, schema: StructType, prefix: string): void {
  const seen = new Set<string>();
  for (const field of schema.fields) {
    const path = `${prefix}${field.name}`;
    if (field.name === '' || /[ ,;{}()\n\t=]/.test(field.name)) {
      throw invalid(
        'DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES',
        `table "${table}": column "${path}" is empty or has one of " ,;{}()\\n\\t="`,
      );
    }
    if (seen.has(field.name.toLowerCase())) {
      throw invalid('DELTA_DUPLICATE_COLUMNS_FOUND', `table "${table}": column "${path}" is there twice (case does not count)`);
    }
    seen.add(field.name.toLowerCase());
    for (const nested of structsIn(field.type)) checkColumns(table, nested, `${path}.`);
  }
  if (prefix === '' && schema.fields.length === 0) throw invalid('DELTA_EMPTY_SCHEMA', `table "${table}" has no columns`);
}

function checkPartitionColumns(table: string, definition: TableDefinition): void {
  const { schema, partitionColumns } = definition;
  for (const name of partitionColumns) {
    const type = schema.fields.find((field) => field.name === name)?.type;
    const problem =
      type === undefined
        ? 'is not a column'
        : ['struct', 'list', 'map', 'binary'].includes(type.kind)
          ? `has type ${describeType(type)}, which cannot partition`
          : partitionColumns.filter((other) => other === name).length > 1
            ? 'is listed twice'
            : undefined;
    if (problem !== undefined) throw invalid('DELTA_PARTITION_COLUMNS_INVALID', `table "${table}": partition column "${name}" ${problem}`);
  }
  if (partitionColumns.length === schema.fields.length) {
    throw invalid('DELTA_PARTITION_COLUMNS_INVALID', `table "${table}": all columns are partition columns`);
  }
}

function checkFeedColumns(table: string, schema: StructType): void {
  const reserved = schema.fields.find((field) => feedColumns.includes(field.name.toLowerCase()));
  if (reserved === undefined) return;
  throw invalid(
    'DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS',
    `table "${table}": column "${reserved.name}" has a name the change feed uses for itself`,
  );
}

function hasLocalTimestamp(type: DataType): boolean {
  if (type.kind === 'struct') return type.fields.some((field) => hasLocalTimestamp(field.type));
  if (type.kind === 'list') return hasLocalTimestamp(type.element);
  if (type.kind === 'map') return hasLocalTimestamp(type.key) || hasLocalTimestamp(type.value);
  return type.kind === 'timestamp_ntz';
}

function structsIn(type: DataType): readonly StructType[] {
  if (type.kind === 'struct') return [type];
  if (type.kind === 'list') return structsIn(type.element);
  if (type.kind === 'map') return [...structsIn(type.key), ...structsIn(type.value)];
  return [];
}

function invalid(code: string, message: string): ServiceError {
  return new ServiceError({ code, kind: 'invalid', message, hint: 'change the definition of the table' });
}
