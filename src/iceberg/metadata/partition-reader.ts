import { parseJson } from '../../base/bigint-json.ts';
import type { AvroRecord, AvroType } from '../../codec/avro/avro-type.ts';
import type { ByteCursor } from '../../codec/avro/byte-cursor.ts';
import { valueSkipper } from '../../codec/avro/skip-values.ts';
import type { DataType } from '../../schema/types.ts';
import { unscaledOf } from '../../table/partitioning/unscaled-bytes.ts';
import { optionalReader, type Read, safeLong, unexpected } from './avro-fields.ts';
import type { PartitionValue } from './content-file.ts';
import { partitionFieldsFromJson } from './partition-spec-json.ts';
import { partitionType, specById } from './partition-type.ts';
import { fieldById } from './schema-fields.ts';
import { schemaFromJson } from './schema-json.ts';
import { uuidFromBytes } from './single-value.ts';
import { invalidMetadata } from './spec-errors.ts';
import type { PartitionSpec, TableMetadata } from './table-metadata.ts';

/** Reads partition tuples of a manifest: one value for each field of its spec, in the spec's order. */
export type PartitionReader = (cursor: ByteCursor) => readonly PartitionValue[];

/**
 * A reader of the tuples a writer's record describes. Fields are found by id, else by name; those the writer does not have are null. Types
 * are the spec's over the table's schemas, so that tuples of all manifests compare.
 */
export function partitionReader(record: AvroRecord, metadata: TableMetadata, spec: PartitionSpec): PartitionReader {
  const { fields } = partitionType(metadata, spec);
  const byName = (name: string): number => fields.findIndex((field) => sanitised(field.name) === name);
  const places = record.fields.map(({ fieldId, name, type }) => {
    const place = fieldId === undefined ? byName(name) : fields.findIndex(({ id }) => id === fieldId);
    const field = fields[place];
    return field === undefined ? { place: -1, read: skipReader(type) } : { place, read: valueReader(type, field.type) };
  });
  const count = fields.length;
  const inOrder = places.length === count && places.every(({ place }, index) => place === index);
  if (inOrder) return (cursor) => places.map(({ read }) => read(cursor));
  return (cursor) => {
    const tuple = new Array<PartitionValue>(count).fill(undefined);
    for (const { place, read } of places) {
      const value = read(cursor);
      if (place >= 0) tuple[place] = value;
    }
    return tuple;
  };
}

/**
 * The spec a manifest was written with: the table's, or what its header says of one that the table has forgotten, and the table's metadata
 * with the schema the manifest knows for columns which the table has forgotten too.
 */
export function specOfManifest(
  metadata: TableMetadata,
  specId: number,
  header: ReadonlyMap<string, Uint8Array>,
  name: string,
): { readonly spec: PartitionSpec; readonly metadata: TableMetadata } {
  const known = specById(metadata, specId);
  const spec = known ?? { specId, fields: partitionFieldsFromJson(headerList(header, name), `${name}: partition-spec`) };
  const has = (id: number): boolean => metadata.schemas.some((one) => fieldById(one, id) !== undefined);
  if (spec.fields.every(({ sourceId }) => has(sourceId))) return { spec, metadata };
  const schema = header.get('schema');
  if (schema === undefined) return { spec, metadata };
  const own = schemaFromJson(parseJson(Buffer.from(schema).toString('utf8'), name), name);
  // Asked last: a column that the table has keeps the table's type.
  return { spec, metadata: { ...metadata, schemas: [{ ...own, schemaId: -1 }, ...metadata.schemas] } };
}

function headerList(header: ReadonlyMap<string, Uint8Array>, name: string): readonly ReturnType<typeof parseJson>[] {
  const text = header.get('partition-spec');
  const json = text === undefined ? undefined : parseJson(Buffer.from(text).toString('utf8'), name);
  if (Array.isArray(json)) return json as readonly ReturnType<typeof parseJson>[];
  throw invalidMetadata(name, 'the table does not have the partition spec of the manifest, and the manifest does not say it');
}

function valueReader(type: AvroType, target: DataType): Read<NonNullable<PartitionValue>> {
  return optionalReader(type, (branch) => branchReader(branch, target));
}

function branchReader(type: AvroType, target: DataType): (cursor: ByteCursor) => NonNullable<PartitionValue> {
  const decimal = target.kind === 'decimal';
  switch (type.kind) {
    case 'boolean':
      return (cursor) => cursor.boolean();
    case 'int':
      return isBigint(target) ? (cursor) => BigInt(cursor.int()) : (cursor) => cursor.int();
    case 'long':
      return isBigint(target) || target.kind === 'string' ? (cursor) => cursor.long() : safeLong;
    case 'float':
      return (cursor) => cursor.float();
    case 'double':
      return (cursor) => cursor.double();
    case 'string':
      return (cursor) => cursor.text();
    case 'bytes':
      return decimal ? (cursor) => unscaledOf(cursor.bytes()) : (cursor) => cursor.bytes();
    case 'fixed':
      if (decimal || type.logicalType === 'decimal') return (cursor) => unscaledOf(cursor.fixed(type.size));
      if (target.kind === 'string' && type.size === 16) return (cursor) => uuidFromBytes(cursor.fixed(16));
      return (cursor) => cursor.fixed(type.size);
    default:
      return unexpected(type);
  }
}

/** Types whose values are bigints. */
function isBigint({ kind }: DataType): boolean {
  return kind === 'long' || kind === 'decimal' || kind === 'time' || kind.startsWith('timestamp');
}

function skipReader(type: AvroType): Read<never> {
  const skip = valueSkipper(type);
  return (cursor) => {
    skip(cursor);
    return undefined;
  };
}

/** A name as Avro allows it, where it was written without ids. */
function sanitised(name: string): string {
  return name
    .replaceAll(/[^A-Za-z0-9_]/g, (character) => `_x${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replace(/^(?=\d)/, '_');
}
