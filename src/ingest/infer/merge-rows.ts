import { widerNumber } from '../../expr/wider-number.ts';
import { sqlTypeName } from '../../schema/sql-type.ts';
import type { DataType, Field } from '../../schema/types.ts';
import type { FoundColumn, FoundRow } from './found-row.ts';

/** Columns that take what each of several schemas of a topic has, the newest first: all names, numbers as wide as the widest. */
export function mergeRows([newest, ...older]: readonly [FoundRow, ...FoundRow[]]): FoundRow {
  return older.reduce(mergeTwo, newest);
}

function mergeTwo(newer: FoundRow, older: FoundRow): FoundRow {
  const old = new Map(older.columns.map((column) => [column.name.toLowerCase(), column]));
  const columns = newer.columns.map((column) => {
    const other = old.get(column.name.toLowerCase());
    old.delete(column.name.toLowerCase());
    return other === undefined ? column : mergeColumn(column, other);
  });
  const named = new Set([...columns, ...old.values(), ...newer.left].map(({ name }) => name.toLowerCase()));
  return {
    columns: [...columns, ...old.values()],
    left: [...newer.left, ...older.left.filter(({ name }) => !named.has(name.toLowerCase()))],
  };
}

function mergeColumn(newer: FoundColumn, older: FoundColumn): FoundColumn {
  const type = mergeTypes(newer.type, older.type);
  if (type !== undefined) return { ...newer, type };
  const note = `an older schema has ${sqlTypeName(older.type)}, whose records are rejected`;
  return { ...newer, note: newer.note === undefined ? note : `${newer.note}; ${note}` };
}

/** `undefined`: no type takes the values of both. */
function mergeTypes(newer: DataType, older: DataType): DataType | undefined {
  if (newer.kind === 'struct' && older.kind === 'struct') return mergeStructs(newer.fields, older.fields);
  if (newer.kind === 'list' && older.kind === 'list') {
    const element = mergeTypes(newer.element, older.element);
    return element && { ...newer, element };
  }
  if (newer.kind === 'map' && older.kind === 'map') {
    const [key, value] = [mergeTypes(newer.key, older.key), mergeTypes(newer.value, older.value)];
    return key && value && { ...newer, key, value };
  }
  return widerNumber(newer, older) ?? (newer.kind === older.kind ? newer : undefined);
}

function mergeStructs(newer: readonly Field[], older: readonly Field[]): DataType | undefined {
  const added = older.filter(({ name }) => !newer.some((field) => field.name === name));
  const fields: Field[] = [];
  for (const field of newer) {
    const other = older.find(({ name }) => name === field.name);
    const type = other === undefined ? field.type : mergeTypes(field.type, other.type);
    if (type === undefined) return undefined;
    fields.push({ ...field, type });
  }
  return { kind: 'struct', fields: [...fields, ...added] };
}
