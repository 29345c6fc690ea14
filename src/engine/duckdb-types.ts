import type { DuckDBType } from '@duckdb/node-api';
import { serviceError } from '../base/errors.ts';
import { everyInnerPair } from '../schema/type-tree.ts';
import type { DataType, Field, StructType } from '../schema/types.ts';
import { variantInRelations } from '../schema/variant-type.ts';
import type { Api } from './duckdb-modules.ts';

/** How a column of a query result is seen: its neutral type, and whether its values must be cast to it before they can be read. */
export interface ResultType {
  readonly type: DataType;
  readonly castNeeded: boolean;
}

const maxDecimalPrecision = 38;

/** The engine's own type for a neutral one. */
export function duckdbTypeOf(api: Api, type: DataType): DuckDBType {
  switch (type.kind) {
    case 'decimal':
      return api.DECIMAL(type.precision, type.scale);
    case 'variant':
      return duckdbTypeOf(api, variantInRelations);
    case 'struct':
      return new api.DuckDBStructType(
        type.fields.map((field) => field.name),
        type.fields.map((field) => duckdbTypeOf(api, field.type)),
      );
    case 'list':
      return api.LIST(duckdbTypeOf(api, type.element));
    case 'map':
      return api.MAP(duckdbTypeOf(api, type.key), duckdbTypeOf(api, type.value));
    default:
      return api[plainNames[type.kind]];
  }
}

/** As the engine's module calls its types. */
const plainNames = {
  boolean: 'BOOLEAN',
  byte: 'TINYINT',
  short: 'SMALLINT',
  integer: 'INTEGER',
  long: 'BIGINT',
  float: 'FLOAT',
  double: 'DOUBLE',
  string: 'VARCHAR',
  binary: 'BLOB',
  date: 'DATE',
  timestamp: 'TIMESTAMPTZ',
  timestamp_ntz: 'TIMESTAMP',
  time: 'TIME',
  timestamp_ns: 'TIMESTAMP_NS',
  timestamp_ntz_ns: 'TIMESTAMP_NS',
  void: 'VARCHAR',
} as const;

/**
 * The neutral type nearest to one of the engine's: unsigned numbers widen, 128-bit integers are `decimal(38,0)`, UUIDs and enums text,
 * coarser timestamps microseconds, fixed arrays lists; an untyped NULL is a string.
 *
 * @throws ServiceError `ENGINE_TYPE_UNSUPPORTED` (kind unsupported) naming the column and the type, for INTERVAL, UNION and the like.
 */
export function resultTypeOf(api: Api, type: DuckDBType, column: string): ResultType {
  if (type instanceof api.DuckDBDecimalType) {
    return { type: { kind: 'decimal', precision: type.width, scale: type.scale }, castNeeded: false };
  }
  if (type instanceof api.DuckDBStructType) return structResult(api, type, column);
  if (type instanceof api.DuckDBListType || type instanceof api.DuckDBArrayType) {
    const element = resultTypeOf(api, type.valueType, `${column}.element`);
    const castNeeded = element.castNeeded || type instanceof api.DuckDBArrayType;
    return { type: { kind: 'list', element: element.type, elementNullable: true }, castNeeded };
  }
  if (type instanceof api.DuckDBMapType) {
    const key = resultTypeOf(api, type.keyType, `${column}.key`);
    const value = resultTypeOf(api, type.valueType, `${column}.value`);
    return { type: { kind: 'map', key: key.type, value: value.type, valueNullable: true }, castNeeded: key.castNeeded || value.castNeeded };
  }
  const plain = plainTypes.find((entry) => entry.id === api.DuckDBTypeId[type.typeId]);
  if (plain !== undefined) return { type: plain.type, castNeeded: plain.castNeeded === true };
  throw serviceError.unsupported('ENGINE_TYPE_UNSUPPORTED', `column "${column}" has type ${type.toString()}, which tables do not have`, {
    hint: 'cast it to a type of the table, such as STRING',
  });
}

function structResult(api: Api, type: InstanceType<Api['DuckDBStructType']>, column: string): ResultType {
  const isVariant = variantInRelations.fields.every((field, index) => type.entryNames[index] === field.name);
  if (isVariant) return { type: { kind: 'variant' }, castNeeded: false };
  const members = type.entryNames.map((name, index): Field & { readonly castNeeded: boolean } => {
    const entry = type.entryTypes[index] ?? api.VARCHAR;
    const { type: memberType, castNeeded } = resultTypeOf(api, entry, `${column}.${name}`);
    return { name, type: memberType, nullable: true, castNeeded };
  });
  const fields = members.map(({ name, type: memberType, nullable }): Field => ({ name, type: memberType, nullable }));
  return { type: { kind: 'struct', fields }, castNeeded: members.some((member) => member.castNeeded) };
}

const plainTypes: readonly { readonly id: string; readonly type: DataType; readonly castNeeded?: boolean }[] = [
  { id: 'BOOLEAN', type: { kind: 'boolean' } },
  { id: 'TINYINT', type: { kind: 'byte' } },
  { id: 'SMALLINT', type: { kind: 'short' } },
  { id: 'INTEGER', type: { kind: 'integer' } },
  { id: 'BIGINT', type: { kind: 'long' } },
  { id: 'UTINYINT', type: { kind: 'short' }, castNeeded: true },
  { id: 'USMALLINT', type: { kind: 'integer' }, castNeeded: true },
  { id: 'UINTEGER', type: { kind: 'long' }, castNeeded: true },
  { id: 'UBIGINT', type: { kind: 'decimal', precision: 20, scale: 0 }, castNeeded: true },
  { id: 'HUGEINT', type: { kind: 'decimal', precision: maxDecimalPrecision, scale: 0 }, castNeeded: true },
  { id: 'UHUGEINT', type: { kind: 'decimal', precision: maxDecimalPrecision, scale: 0 }, castNeeded: true },
  { id: 'FLOAT', type: { kind: 'float' } },
  { id: 'DOUBLE', type: { kind: 'double' } },
  { id: 'VARCHAR', type: { kind: 'string' } },
  { id: 'ENUM', type: { kind: 'string' }, castNeeded: true },
  { id: 'UUID', type: { kind: 'string' }, castNeeded: true },
  { id: 'SQLNULL', type: { kind: 'string' }, castNeeded: true },
  { id: 'BLOB', type: { kind: 'binary' } },
  { id: 'DATE', type: { kind: 'date' } },
  { id: 'TIMESTAMP_TZ', type: { kind: 'timestamp' } },
  { id: 'TIMESTAMP', type: { kind: 'timestamp_ntz' } },
  { id: 'TIMESTAMP_S', type: { kind: 'timestamp_ntz' }, castNeeded: true },
  { id: 'TIMESTAMP_MS', type: { kind: 'timestamp_ntz' }, castNeeded: true },
  { id: 'TIMESTAMP_NS', type: { kind: 'timestamp_ntz_ns' } },
  { id: 'TIME', type: { kind: 'time' } },
];

/** Whether values of both types are held alike: names and nullability of members do not count. Nanoseconds are, instants or not. */
export function sameShape(left: DataType, right: DataType): boolean {
  if (left.kind === 'decimal') return right.kind === 'decimal' && left.precision === right.precision && left.scale === right.scale;
  if (left.kind !== right.kind) return isNanos(left) && isNanos(right);
  return everyInnerPair(left, right, (member, other) => sameShape(member.type, other.type));
}

function isNanos(type: DataType): boolean {
  return type.kind === 'timestamp_ns' || type.kind === 'timestamp_ntz_ns';
}

/** Fields that may all be null, from names and types. */
export function nullableStruct(columns: readonly { readonly name: string; readonly type: DataType }[]): StructType {
  return { kind: 'struct', fields: columns.map(({ name, type }) => ({ name, type, nullable: true })) };
}
