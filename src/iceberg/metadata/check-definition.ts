import { type JsonObject, type JsonValue, printJson } from '../../base/bigint-json.ts';
import type { DataType } from '../../schema/types.ts';
import { resultType } from '../../table/partitioning/apply-transform.ts';
import { printTransform, type Transform } from '../../table/partitioning/transform.ts';
import { firstPartitionFieldId } from './partition-spec-json.ts';
import { columnsById, type SchemaColumn } from './schema-fields.ts';
import { refusedUpdate } from './spec-errors.ts';
import type { IcebergSchema, PartitionSpec, SortOrder } from './table-metadata.ts';
import { icebergTypeText } from './type-text.ts';

/** Highest id a column may have; those above are for columns every file may have. */
export const highestColumnId = 2_147_483_447;

/** Types that formats before 3 do not have. */
const newInVersion3 = ['timestamp_ns', 'timestamp_ntz_ns', 'variant', 'void'] as const;

function isNewInVersion3(type: DataType): type is Extract<DataType, { kind: (typeof newInVersion3)[number] }> {
  return newInVersion3.some((kind) => kind === type.kind);
}

/**
 * Checks a schema that is about to be added: ids, identifier fields, and that the format version has its types and defaults.
 *
 * @throws ServiceError `ICEBERG_UPDATE_REFUSED` (kind invalid).
 */
export function checkSchema(schema: IcebergSchema, formatVersion: number): void {
  const columns = columnsById(schema);
  const problems: string[] = [];
  for (const column of columns.values()) {
    const path = column.path.join('.');
    if (column.id > highestColumnId) throw refusedUpdate(`Cannot use field id ${column.id} of ${path}: it is reserved`);
    if (formatVersion < 3 && isNewInVersion3(column.type)) {
      problems.push(`Invalid type for ${path}: ${icebergTypeText(column.type)} is not supported until v3`);
    }
    const initial = initialDefault(column);
    if (formatVersion < 3 && initial !== undefined && initial !== null) {
      problems.push(`Invalid initial default for ${path}: non-null default (${printJson(initial)}) is not supported until v3`);
    }
  }
  if (problems.length > 0) throw refusedUpdate(`Invalid schema for v${formatVersion}:\n- ${problems.join('\n- ')}`);
  for (const id of schema.identifierFieldIds) checkIdentifier(columns, id);
}

/** @throws ServiceError `ICEBERG_UPDATE_REFUSED` (kind invalid): a source is not there or has no such transform. */
export function checkPartitionSpec(spec: PartitionSpec, schema: IcebergSchema, formatVersion: number): void {
  const names = new Set<string>();
  const ids = new Set<number>();
  for (const [index, { name, fieldId, sourceId, transform }] of spec.fields.entries()) {
    if (name === '') throw refusedUpdate(`Cannot use empty or null partition name: ${name}`);
    if (names.has(name)) throw refusedUpdate(`Cannot use partition name more than once: ${name}`);
    names.add(name);
    if (ids.has(fieldId)) throw refusedUpdate(`Cannot use partition field id more than once: ${fieldId}`);
    ids.add(fieldId);
    if (formatVersion === 1 && fieldId !== firstPartitionFieldId + index) {
      throw refusedUpdate(`Spec does not use sequential IDs that are required in v1: ${fieldId}`);
    }
    if (transform.kind === 'void') continue;
    const source = columnsById(schema).get(sourceId);
    if (source === undefined) throw refusedUpdate(`Cannot find source column for partition field: ${name}`);
    checkSource(source, transform, 'Cannot partition by non-primitive source field');
  }
}

/** @throws ServiceError `ICEBERG_UPDATE_REFUSED` (kind invalid): a source is not there or has no such transform. */
export function checkSortOrder(order: SortOrder, schema: IcebergSchema): void {
  for (const { sourceId, transform } of order.fields) {
    const source = columnsById(schema).get(sourceId);
    if (source === undefined) throw refusedUpdate(`Cannot find source column for sort field: ${sourceId}`);
    checkSource(source, transform, 'Cannot sort by non-primitive source field');
  }
}

function checkSource({ type, path, repeated }: SchemaColumn, transform: Transform, complaint: string): void {
  if (isNested(type)) throw refusedUpdate(`${complaint}: ${path.join('.')}`);
  if (repeated) throw refusedUpdate(`Invalid partition field parent: ${path.join('.')}`);
  if (transform.kind !== 'unknown' && resultType(transform, type) === undefined) {
    throw refusedUpdate(`Invalid source type ${icebergTypeText(type)} for transform: ${printTransform(transform)}`);
  }
}

function checkIdentifier(columns: ReadonlyMap<number, SchemaColumn>, id: number): void {
  const column = columns.get(id);
  const refuse = (why: string): Error => refusedUpdate(`Cannot add field ${column?.path.join('.') ?? id} as an identifier field: ${why}`);
  if (column === undefined) throw refusedUpdate(`Cannot add fieldId ${id} as an identifier field: field does not exist`);
  if (isNested(column.type)) throw refuse('not a primitive type field');
  if (column.nullable) throw refuse('not a required field');
  if (column.type.kind === 'float' || column.type.kind === 'double') throw refuse('must not be float or double field');
  if (column.repeated) throw refuse('must not be nested in a list or map');
  const parents = [...columns.values()].filter(
    ({ path }) => path.length < column.path.length && path.every((name, index) => name === column.path[index]),
  );
  if (parents.some(({ nullable }) => nullable)) throw refuse('must not be nested in an optional field');
}

function initialDefault({ field }: SchemaColumn): JsonValue | undefined {
  // Metadata came from JSON and goes back as it was.
  return (field?.metadata as JsonObject | undefined)?.['initial-default'];
}

function isNested(type: DataType): type is Extract<DataType, { kind: 'struct' | 'list' | 'map' }> {
  return type.kind === 'struct' || type.kind === 'list' || type.kind === 'map';
}
