import type { DataType } from '../../schema/types.ts';
import { commonType } from '../common-type.ts';
import { differentTypes } from '../different-types.ts';
import { differentTypesOf } from '../functions/common-argument.ts';
import { requireOrdered } from '../require-comparable.ts';
import type { ZoneRule } from '../time-zone.ts';
import { castSql } from './cast-sql.ts';
import { quoteName, sqlText } from './engine-text.ts';
import type { TypedSql } from './operator-sql.ts';

export interface ComparedOptions {
  readonly zone?: ZoneRule;
  /** Whether one value is looked for among the others, which then have one type all together. */
  readonly isList?: boolean | undefined;
}

/**
 * Values to be compared, as Spark brings them together: text becomes what it is compared with, dates and local times beside instants become
 * such, a FLOAT beside any other number a DOUBLE; elements of lists and members of structs likewise.
 *
 * @throws AnalysisException `DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES`, `.DATA_DIFF_TYPES`, `.INVALID_ORDERING_TYPE` 42K09
 */
export function comparedOperands(operands: readonly TypedSql[], { zone, isList = false }: ComparedOptions): readonly TypedSql[] {
  for (const { type } of operands) requireOrdered(type);
  const types = operands.flatMap(({ type }) => (type === undefined ? [] : [type]));
  const common = commonCompared(types, isList);
  if (common === undefined) return operands;
  return operands.map((operand) => {
    const { type, sql } = operand;
    if (type === undefined) return operand;
    if (type.kind === 'list' || type.kind === 'struct')
      return { ...operand, sql: shapedSql(sql, { from: type, to: common, zone }), type: common };
    // What the engine compares as Spark does stays as it is stored, so that it finds the files and row groups.
    if (type.kind === common.kind || (type.kind !== 'string' && type.kind !== 'float' && common.kind !== 'timestamp')) return operand;
    const cast = type.kind === 'string' ? castTextSql(operand, common, zone) : castSql(sql, { from: type, to: common, safe: false, zone });
    return { ...operand, sql: cast, type: common };
  });
}

/** The type that all are compared as; `undefined` where that is left to the engine. */
function commonCompared(types: readonly DataType[], isList: boolean): DataType | undefined {
  let common: DataType | undefined;
  for (const type of types.toSorted((one, other) => Number(one.kind === 'string') - Number(other.kind === 'string'))) {
    if (common === undefined) common = type;
    if (isStructurallySame(common, type)) continue;
    const together = mixesTextWithin(common, type) ? undefined : commonType(common, type);
    if (together === undefined) {
      if ([common, type].some(({ kind }) => kind === 'variant')) return undefined;
      throw isList ? differentTypesOf('in', types) : differentTypes(common, type);
    }
    common = together;
  }
  return common;
}

/** Within lists and structs text is not read as what it stands beside. */
function mixesTextWithin(one: DataType, other: DataType): boolean {
  const mixes = (left: DataType, right: DataType): boolean =>
    mixesTextWithin(left, right) ||
    ((left.kind === 'string') !== (right.kind === 'string') && left.kind !== 'void' && right.kind !== 'void');
  if (one.kind === 'list' && other.kind === 'list') return mixes(one.element, other.element);
  if (one.kind !== 'struct' || other.kind !== 'struct') return false;
  return one.fields.some(({ type }, at) => mixes(type, other.fields[at]?.type ?? type));
}

/** Whether types are one but for names of members. */
function isStructurallySame(one: DataType, other: DataType): boolean {
  if (one.kind === 'struct' && other.kind === 'struct')
    return (
      one.fields.length === other.fields.length &&
      one.fields.every(({ type }, at) => isStructurallySame(type, other.fields[at]?.type ?? type))
    );
  if (one.kind === 'list' && other.kind === 'list') return isStructurallySame(one.element, other.element);
  if (one.kind === 'decimal' && other.kind === 'decimal') return one.precision === other.precision && one.scale === other.scale;
  return one.kind === other.kind;
}

interface Shape {
  readonly from: DataType;
  readonly to: DataType;
  readonly zone: ZoneRule;
}

/**
 * A list or struct with elements and members of the types, and by the names, that it is compared under: the engine compares members of one name, and
 * leaves out its own cast of a whole list or struct beside a constant.
 */
function shapedSql(sql: string, { from, to, zone }: Shape): string {
  if (isOfShape(from, to)) return sql;
  if (from.kind === 'list' && to.kind === 'list') {
    const element = shapedSql('"__element"', { from: from.element, to: to.element, zone });
    return `list_transform(${sql}, lambda "__element": ${element})`;
  }
  if (from.kind !== 'struct' || to.kind !== 'struct') return castSql(sql, { from, to, safe: false, zone });
  const members = from.fields.map(({ name, type }, at) => {
    const wanted = to.fields[at] ?? { name, type };
    return `${quoteName(wanted.name)} := ${shapedSql(`struct_extract(${sql}, ${sqlText(name)})`, { from: type, to: wanted.type, zone })}`;
  });
  return `CASE WHEN ${sql} IS NULL THEN NULL ELSE struct_pack(${members.join(', ')}) END`;
}

function isOfShape(one: DataType, other: DataType): boolean {
  if (one.kind === 'list' && other.kind === 'list') return isOfShape(one.element, other.element);
  if (one.kind !== 'struct' || other.kind !== 'struct') return isStructurallySame(one, other);
  const inOther = one.fields.every(({ name, type }, at) => {
    const field = other.fields[at];
    return field?.name === name && isOfShape(type, field.type);
  });
  return inOther && one.fields.length === other.fields.length;
}

function castTextSql({ sql, type, literal }: TypedSql, to: DataType, zone: ZoneRule): string {
  const plainInteger = to.kind === 'long' && literal?.type === 'string' && /^\s*[+-]?\d+\s*$/.test(literal.value);
  return plainInteger ? `CAST(${sql} AS BIGINT)` : castSql(sql, { from: type, to, safe: false, zone });
}
