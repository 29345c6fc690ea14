import type { DataType, Field } from '../schema/types.ts';
import type { Expression } from './expression.ts';
import { isIntegral, isNumeric } from './sql/cast-sql.ts';
import { widerNumber } from './wider-number.ts';

const instants: readonly DataType['kind'][] = ['date', 'timestamp_ntz', 'timestamp'];

/** The type that holds values of both, as Spark's ANSI mode brings columns of rows together; `undefined`: there is none. */
export function commonType(left: DataType, right: DataType): DataType | undefined {
  if (left.kind === 'void') return right;
  if (right.kind === 'void') return left;
  if (left.kind === 'string' || right.kind === 'string') return withText(left.kind === 'string' ? right : left);
  if (isNumeric(left) && isNumeric(right)) return widerNumber(left, right);
  const [one, other] = [instants.indexOf(left.kind), instants.indexOf(right.kind)];
  if (one >= 0 && other >= 0) return one > other ? left : right;
  return left.kind === right.kind ? sameKind(left, right) : undefined;
}

/** Text is read as what it stands beside. */
function withText(other: DataType): DataType | undefined {
  if (isIntegral(other)) return { kind: 'long' };
  if (isNumeric(other)) return { kind: 'double' };
  return other.kind === 'list' || other.kind === 'map' || other.kind === 'struct' || other.kind === 'variant' ? undefined : other;
}

function sameKind(left: DataType, right: DataType): DataType | undefined {
  if (left.kind === 'list' && right.kind === 'list') {
    const element = commonType(left.element, right.element);
    return element && { ...left, element, elementNullable: left.elementNullable || right.elementNullable };
  }
  if (left.kind === 'map' && right.kind === 'map') {
    const [key, value] = [commonType(left.key, right.key), commonType(left.value, right.value)];
    return key && value && { ...left, key, value, valueNullable: left.valueNullable || right.valueNullable };
  }
  if (left.kind === 'struct' && right.kind === 'struct') {
    const fields = left.fields.map((field, index) => commonField(field, right.fields[index]));
    const known = fields.filter((field) => field !== undefined);
    return known.length === fields.length && fields.length === right.fields.length ? { ...left, fields: known } : undefined;
  }
  return left;
}

function commonField(left: Field, right: Field | undefined): Field | undefined {
  const type = right === undefined || right.name.toLowerCase() !== left.name.toLowerCase() ? undefined : commonType(left.type, right.type);
  return type && { ...left, type, nullable: left.nullable || right?.nullable !== false };
}

/** The type of a value of which only NULLs are known, void for each: it takes that of what it stands beside. `undefined` for other values. */
export function untypedOf(value: Expression): DataType | undefined {
  if (value.kind === 'literal') return value.literal.type === 'null' ? { kind: 'void' } : undefined;
  if (value.kind !== 'call' || value.name.toLowerCase() !== 'array') return undefined;
  const elements = value.arguments.map(untypedOf);
  const element = elements.reduce<DataType | undefined>((all, type) => all && type && commonType(all, type), { kind: 'void' });
  return element && { kind: 'list', element, elementNullable: true };
}

/** A type without void: columns have types, whatever is known of their values. */
export function settledType(type: DataType): DataType {
  if (type.kind === 'void') return { kind: 'integer' };
  return type.kind === 'list' ? { ...type, element: settledType(type.element) } : type;
}
