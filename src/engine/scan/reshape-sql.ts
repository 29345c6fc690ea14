import { quoteName, sqlText, typeSql } from '../../expr/sql/engine-text.ts';
import type { DataType, StructType } from '../../schema/types.ts';
import { sameShape } from '../duckdb-types.ts';

/** An expression of one type, and the type its value shall have: members are matched by place, names are the target's. */
export interface Reshape {
  readonly sql: string;
  readonly from: DataType;
  readonly to: DataType;
}

/**
 * Renames members of nested values, and casts where leaf types differ. Both types have the same structure. A null struct, list or map stays null.
 * Names that agree cost nothing: the expression is returned as it is.
 */
export function reshapeSql({ sql, from, to }: Reshape): string {
  return build({ sql, from, to }, 0);
}

/** Whether all member names agree, at every depth. */
export function sameNames(left: DataType, right: DataType): boolean {
  if (left.kind === 'struct' && right.kind === 'struct') {
    return left.fields.every((field, index) => {
      const other = right.fields[index];
      return other !== undefined && field.name === other.name && sameNames(field.type, other.type);
    });
  }
  if (left.kind === 'list' && right.kind === 'list') return sameNames(left.element, right.element);
  if (left.kind === 'map' && right.kind === 'map') return sameNames(left.key, right.key) && sameNames(left.value, right.value);
  return true;
}

function build({ sql, from, to }: Reshape, depth: number): string {
  if (sameNames(from, to)) return sameShape(from, to) ? sql : `CAST(${sql} AS ${typeSql(to)})`;
  if (from.kind === 'struct' && to.kind === 'struct') return structSql(sql, from, to, depth);
  const parameter = `e${depth}`;
  if (from.kind === 'list' && to.kind === 'list') {
    return `list_transform(${sql}, lambda ${parameter}: ${build({ sql: parameter, from: from.element, to: to.element }, depth + 1)})`;
  }
  if (from.kind === 'map' && to.kind === 'map') {
    const keys = build({ sql: parameter, from: from.key, to: to.key }, depth + 1);
    const values = build({ sql: parameter, from: from.value, to: to.value }, depth + 1);
    const keyList = `list_transform(map_keys(${sql}), lambda ${parameter}: ${keys})`;
    const valueList = `list_transform(map_values(${sql}), lambda ${parameter}: ${values})`;
    return `CASE WHEN ${sql} IS NULL THEN NULL ELSE map(${keyList}, ${valueList}) END`;
  }
  return `CAST(${sql} AS ${typeSql(to)})`;
}

function structSql(sql: string, from: StructType, to: StructType, depth: number): string {
  const members = to.fields.map((field, index) => {
    const source = from.fields[index] ?? field;
    const member = build({ sql: `struct_extract(${sql}, ${sqlText(source.name)})`, from: source.type, to: field.type }, depth);
    return `${quoteName(field.name)} := ${member}`;
  });
  return `CASE WHEN ${sql} IS NULL THEN NULL ELSE struct_pack(${members.join(', ')}) END`;
}
