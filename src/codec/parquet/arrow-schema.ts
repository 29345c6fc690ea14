import * as arrow from 'apache-arrow';
import { type ServiceError, serviceError } from '../../base/errors.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';
import { variantStruct } from '../../schema/variant-type.ts';
import { UUID_BYTES } from '../uuid-text.ts';

/** Metadata key under which the Parquet library looks for a field's id. */
const fieldIdKey = 'PARQUET:field_id';

/** The Arrow schema whose Parquet form has our names, ids and repetition: `list.element`, `key_value.key`. */
export function toArrowSchema(schema: StructType): arrow.Schema {
  return new arrow.Schema(schema.fields.map(toArrowField), undefined, undefined, arrow.MetadataVersion.V5);
}

export function toArrowField(field: Field): arrow.Field {
  return namedField(field.name, toArrowType(field.type), field.nullable, field.id);
}

export function toArrowType(type: DataType): arrow.DataType {
  switch (type.kind) {
    case 'struct':
      return new arrow.Struct(type.fields.map(toArrowField));
    case 'list':
      return new arrow.List(namedField('element', toArrowType(type.element), type.elementNullable, type.elementId));
    case 'map': {
      const key = namedField('key', toArrowType(type.key), false, type.keyId);
      const value = namedField('value', toArrowType(type.value), type.valueNullable, type.valueId);
      const entries = new arrow.Struct<{ key: arrow.DataType; value: arrow.DataType }>([key, value]);
      const map = new arrow.Map_(new arrow.Field('key_value', entries, false));
      // The constructor renames its child to `entries`; the name goes into the file, where `key_value` is the standard.
      Object.assign(map.children[0] ?? {}, { name: 'key_value' });
      return map;
    }
    case 'variant':
      return toArrowType(variantStruct);
    case 'void':
      return primitives.string;
    case 'decimal':
      return new arrow.Decimal(type.scale, type.precision, 128);
    case 'timestamp':
      return new arrow.TimestampMicrosecond('UTC');
    case 'string':
      return type.format === 'uuid' ? new arrow.FixedSizeBinary(UUID_BYTES) : primitives.string;
    case 'binary':
      return type.fixedLength === undefined ? primitives.binary : new arrow.FixedSizeBinary(type.fixedLength);
    default:
      return primitives[type.kind];
  }
}

const primitives = {
  boolean: new arrow.Bool(),
  byte: new arrow.Int8(),
  short: new arrow.Int16(),
  integer: new arrow.Int32(),
  long: new arrow.Int64(),
  float: new arrow.Float32(),
  double: new arrow.Float64(),
  string: new arrow.Utf8(),
  binary: new arrow.Binary(),
  date: new arrow.DateDay(),
  timestamp_ntz: new arrow.TimestampMicrosecond(),
  time: new arrow.TimeMicrosecond(),
  timestamp_ns: new arrow.TimestampNanosecond('UTC'),
  timestamp_ntz_ns: new arrow.TimestampNanosecond(),
} as const;

/**
 * The schema of a file as its Arrow form tells it. Wider, finer or coarser Arrow types become the type that holds them: unsigned
 * integers the next larger signed one, all timestamp units microseconds.
 *
 * @throws ServiceError `PARQUET_TYPE_UNSUPPORTED` (kind unsupported) for a type without an equivalent, naming column and type.
 */
export function fromArrowSchema(schema: arrow.Schema): StructType {
  return { kind: 'struct', fields: schema.fields.map((field) => fromArrowField(field, '')) };
}

function fromArrowField(field: arrow.Field, parent: string): Field {
  const where = parent === '' ? field.name : `${parent}.${field.name}`;
  const type = fromArrowType(field.type as arrow.DataType, where);
  const id = idOf(field);
  return id === undefined ? { name: field.name, type, nullable: field.nullable } : { name: field.name, type, nullable: field.nullable, id };
}

function fromArrowType(type: arrow.DataType, where: string): DataType {
  if (arrow.DataType.isDictionary(type)) return fromArrowType(type.dictionary as arrow.DataType, where);
  if (arrow.DataType.isInt(type)) return integerType(type, where);
  if (arrow.DataType.isFloat(type)) return type.precision === arrow.Precision.DOUBLE ? { kind: 'double' } : { kind: 'float' };
  if (arrow.DataType.isBool(type)) return { kind: 'boolean' };
  if (arrow.DataType.isUtf8(type) || arrow.DataType.isLargeUtf8(type) || type.typeId === arrow.Type.Utf8View) return { kind: 'string' };
  if (isBinaryLike(type)) return { kind: 'binary' };
  if (arrow.DataType.isDecimal(type)) return { kind: 'decimal', precision: type.precision, scale: type.scale };
  if (arrow.DataType.isDate(type)) return type.unit === arrow.DateUnit.DAY ? { kind: 'date' } : { kind: 'timestamp_ntz' };
  if (arrow.DataType.isTimestamp(type)) return type.timezone ? { kind: 'timestamp' } : { kind: 'timestamp_ntz' };
  if (arrow.DataType.isTime(type)) return { kind: 'time' };
  return nestedType(type, where);
}

function nestedType(type: arrow.DataType, where: string): DataType {
  if (arrow.DataType.isStruct(type)) {
    return { kind: 'struct', fields: type.children.map((child) => fromArrowField(child, where)) };
  }
  if (arrow.DataType.isList(type) || arrow.DataType.isLargeList(type)) {
    const element = fromArrowField(type.children[0] as arrow.Field, where);
    const base = { kind: 'list', element: element.type, elementNullable: element.nullable } as const;
    return element.id === undefined ? base : { ...base, elementId: element.id };
  }
  if (arrow.DataType.isMap(type)) {
    const entries = (type.children[0]?.type.children ?? []) as unknown as [arrow.Field, arrow.Field];
    const [key, value] = [fromArrowField(entries[0], where), fromArrowField(entries[1], where)];
    return {
      kind: 'map',
      key: key.type,
      value: value.type,
      valueNullable: value.nullable,
      ...(key.id === undefined ? {} : { keyId: key.id }),
      ...(value.id === undefined ? {} : { valueId: value.id }),
    };
  }
  throw unsupportedType(type, where);
}

function integerType(type: arrow.Int, where: string): DataType {
  const bits = type.isSigned ? type.bitWidth : type.bitWidth * 2;
  switch (bits) {
    case 8:
      return { kind: 'byte' };
    case 16:
      return { kind: 'short' };
    case 32:
      return { kind: 'integer' };
    case 64:
      return { kind: 'long' };
    default:
      throw unsupportedType(type, where);
  }
}

function isBinaryLike(type: arrow.DataType): boolean {
  return (
    arrow.DataType.isBinary(type) ||
    arrow.DataType.isLargeBinary(type) ||
    arrow.DataType.isFixedSizeBinary(type) ||
    type.typeId === arrow.Type.BinaryView
  );
}

function idOf(field: arrow.Field): number | undefined {
  const text = field.metadata.get(fieldIdKey);
  const id = text === undefined ? Number.NaN : Number(text);
  return Number.isInteger(id) ? id : undefined;
}

function namedField<T extends arrow.DataType>(name: string, type: T, nullable: boolean, id: number | undefined): arrow.Field<T> {
  return new arrow.Field(name, type, nullable, id === undefined ? undefined : new Map([[fieldIdKey, String(id)]]));
}

/** The refusal of a type that has no equivalent. */
export function unsupportedType(type: arrow.DataType, where: string): ServiceError {
  return serviceError.unsupported(
    'PARQUET_TYPE_UNSUPPORTED',
    `column "${where}" has the arrow type ${arrowTypeText(type)}, which no column type can hold`,
  );
}

/** An Arrow type for messages, as the library spells it. */
export function arrowTypeText(type: { readonly [Symbol.toStringTag]: string; readonly toString: () => string }): string {
  return type.toString();
}
