import { AnalysisException } from '../../base/analysis-exception.ts';
import { fieldNamed } from '../../schema/column-path.ts';
import { describeFields, describeType } from '../../schema/describe-type.ts';
import { innerFields } from '../../schema/type-tree.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';
import type { MetadataAction } from '../actions.ts';
import { mappingKeys, physicalName } from '../column-mapping/physical-schema.ts';
import { canWiden } from '../definition/change-type.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import { parseSchemaString } from '../schema-json.ts';

/** What a version says the table is. */
interface Described {
  readonly id: string;
  readonly schema: StructType;
  readonly partitionColumns: readonly string[];
  readonly mapped: boolean;
}

export interface StreamSchemaCheck {
  /** The table's name, for messages. */
  readonly table: string;
  /** What the stream was opened on: its rows have this schema, whatever version they come from. */
  readonly opened: DeltaSnapshot;
  /** Whether options say where the stream begins, for the error's class. */
  readonly startIsGiven: boolean;
}

/**
 * Refuses a version whose rows cannot be shown in the schema the stream has. The order of columns does not matter, nor do comments and
 * properties; a column that the version lacks is NULL in its rows.
 *
 * @throws AnalysisException `DELTA_SCHEMA_CHANGED_WITH_VERSION` or `DELTA_SCHEMA_CHANGED_WITH_STARTING_OPTIONS`: when a new start would read on, and when it
 * would not; `DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG`: a column of a mapped table was renamed or dropped, or its
 * partitions changed; `DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE`.
 */
export function checkStreamSchema(check: StreamSchemaCheck, version: number, metadata: MetadataAction): void {
  const { opened, table } = check;
  if (metadata === opened.metadata || version === opened.version) return;
  const read = described(opened.metadata, table);
  const data = described(metadata, table);
  if (read.id !== data.id) throw anotherTable(read.id, data.id);
  const isPast = version < opened.version;
  const [before, after] = isPast ? [data, read] : [read, data];
  const samePartitions = before.partitionColumns.join('\n') === after.partitionColumns.join('\n');
  if (!keepsMappedColumns(before, after, samePartitions)) throw notAdditive(check, version, data.schema);
  const widening = hasTypeWidening(opened);
  if (samePartitions && isReadable(data.schema, read.schema, isPast && widening)) return;
  const isRetryable = !isPast && isReadable(read.schema, data.schema, widening);
  throw schemaChanged(check, { version, schema: data.schema, isRetryable });
}

function described({ id, schemaString, partitionColumns, configuration }: MetadataAction, table: string): Described {
  const mapped = (configuration[mappingKeys.mode] ?? 'none').toLowerCase() !== 'none';
  return { id, schema: parseSchemaString(schemaString, `the schema of table "${table}"`), partitionColumns, mapped };
}

function hasTypeWidening({ protocol }: DeltaSnapshot): boolean {
  return protocol.readerFeatures?.some((feature) => feature === 'typeWidening' || feature === 'typeWidening-preview') ?? false;
}

/** Columns of files are followed by the names they have there; a table that becomes mapped gives them the names it has. */
function keepsMappedColumns(before: Described, after: Described, samePartitions: boolean): boolean {
  if (!after.mapped) return !before.mapped;
  if (!samePartitions) return false;
  const names = logicalNames(after.schema);
  return [...logicalNames(before.schema)].every(([stored, name]) => names.get(stored) === name);
}

/** Every column, at every level, by the path it has in files. */
function logicalNames(schema: StructType): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const enter = (type: DataType, above: readonly string[]): void => {
    for (const field of innerFields(type)) {
      const path = [...above, physicalName(field)];
      if (type.kind === 'struct') found.set(path.join('\n'), field.name);
      enter(field.type, path);
    }
  };
  enter(schema, []);
  return found;
}

/** Whether rows of `data` can be shown as `read`: it has every column, may have more, and promises no values that may be missing. */
function isReadable(data: DataType, read: DataType, widening: boolean): boolean {
  if (data.kind === 'struct' && read.kind === 'struct') {
    return data.fields.every((field) => isFieldReadable(field, fieldNamed(read.fields, field.name), widening));
  }
  if (data.kind === 'list' && read.kind === 'list') {
    return (read.elementNullable || !data.elementNullable) && isReadable(data.element, read.element, widening);
  }
  if (data.kind === 'map' && read.kind === 'map') {
    const [keys, values] = [isReadable(data.key, read.key, widening), isReadable(data.value, read.value, widening)];
    return (read.valueNullable || !data.valueNullable) && keys && values;
  }
  return describeType(data) === describeType(read) || (widening && canWiden(data, read));
}

function isFieldReadable(data: Field, read: Field | undefined, widening: boolean): boolean {
  return read !== undefined && (read.nullable || !data.nullable) && isReadable(data.type, read.type, widening);
}

function anotherTable(newTableId: string, oldTableId: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE',
    message: `the streaming query was reading from an unexpected Delta table (id = '${newTableId}'); earlier versions belong to another Delta table (id = '${oldTableId}')`,
    hint: 'the table was replaced: start with an empty checkpoint folder, and without startingVersion or with one behind the replacement',
    parameters: { newTableId, oldTableId },
  });
}

function notAdditive({ table, opened }: StreamSchemaCheck, version: number, schema: StructType): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG',
    message: `table "${table}": a column was renamed or dropped, or the partitions changed, between version ${version} and what the stream reads by`,
    hint: `a stream cannot go across this: start with an empty checkpoint folder, from the newest rows or with startingVersion ${Math.max(version, opened.version)}`,
    parameters: {
      readSchema: describeFields(opened.schema.fields),
      incompatibleSchema: describeFields(schema.fields),
      version: String(version),
    },
  });
}

function schemaChanged(
  { table, opened, startIsGiven }: StreamSchemaCheck,
  found: { readonly version: number; readonly schema: StructType; readonly isRetryable: boolean },
): AnalysisException {
  const { version, schema, isRetryable } = found;
  const anew = 'this change cannot be read across: start with an empty checkpoint folder';
  const behind = Math.max(version, opened.version);
  return new AnalysisException({
    errorClass: startIsGiven ? 'DELTA_SCHEMA_CHANGED_WITH_STARTING_OPTIONS' : 'DELTA_SCHEMA_CHANGED_WITH_VERSION',
    message: `table "${table}": detected schema change in version ${version}`,
    hint: isRetryable
      ? 'start the query again: it goes on from its checkpoint with the new schema'
      : `${anew}${startIsGiven ? `, from a version or time not before version ${behind}` : ''}`,
    parameters: {
      version: String(version),
      readSchema: describeFields(opened.schema.fields),
      dataSchema: describeFields(schema.fields),
      retryable: String(isRetryable),
    },
  });
}
