import { literalSql, quoteName, sqlText, typeSql } from '../../expr/sql/engine-text.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';
import type { AbsentMember, StoredColumn } from '../../table/scan.ts';
import { reshapeSql, sameNames } from './reshape-sql.ts';

/**
 * The type a column is read with: leaf types of the table, names of the file, members that the file lacks left out. A struct of which
 * nothing is left is read as text: all that counts is whether it is null.
 */
export function presentType(column: StoredColumn): DataType {
  return present(column.storedType, column.field.type, column.absent ?? []);
}

/** The value of a column that was read as `type` (see `presentType`), in the table's type: renamed, members that the file lacks put in. */
export function withAbsentSql(value: string, column: StoredColumn & { readonly type: DataType }): string {
  const { field, type, absent = [] } = column;
  if (absent.length === 0) return sameNames(type, field.type) ? value : reshapeSql({ sql: value, from: type, to: field.type });
  return completed(value, column.storedType, field.type, { absent, depth: 0 });
}

function present(stored: DataType, target: DataType, absent: readonly AbsentMember[]): DataType {
  if (stored.kind === 'struct' && target.kind === 'struct') {
    const fields = target.fields.flatMap((field, index): readonly Field[] => {
      if (absentAt(absent, field.name) !== undefined) return [];
      const source = stored.fields[index] ?? field;
      return [{ ...field, name: source.name, type: present(source.type, field.type, below(absent, field.name)) }];
    });
    return fields.length === 0 && target.fields.length > 0 ? { kind: 'string' } : { kind: 'struct', fields };
  }
  if (stored.kind === 'list' && target.kind === 'list') {
    return { ...target, element: present(stored.element, target.element, below(absent, 'element')) };
  }
  if (stored.kind === 'map' && target.kind === 'map') {
    const key = present(stored.key, target.key, below(absent, 'key'));
    return { ...target, key, value: present(stored.value, target.value, below(absent, 'value')) };
  }
  return target;
}

interface Absence {
  readonly absent: readonly AbsentMember[];
  /** Lists and maps around. */
  readonly depth: number;
}

function completed(value: string, stored: DataType, target: DataType, { absent, depth }: Absence): string {
  if (absent.length === 0) return reshapeSql({ sql: value, from: present(stored, target, []), to: target });
  const parameter = `a${depth}`;
  const inner = (part: 'element' | 'key' | 'value'): Absence => ({ absent: below(absent, part), depth: depth + 1 });
  if (stored.kind === 'struct' && target.kind === 'struct') return completedStruct(value, stored, target, { absent, depth });
  if (stored.kind === 'list' && target.kind === 'list') {
    return `list_transform(${value}, lambda ${parameter}: ${completed(parameter, stored.element, target.element, inner('element'))})`;
  }
  if (stored.kind === 'map' && target.kind === 'map') {
    const keys = `list_transform(map_keys(${value}), lambda ${parameter}: ${completed(parameter, stored.key, target.key, inner('key'))})`;
    const values = `list_transform(map_values(${value}), lambda ${parameter}: ${completed(parameter, stored.value, target.value, inner('value'))})`;
    return `CASE WHEN ${value} IS NULL THEN NULL ELSE map(${keys}, ${values}) END`;
  }
  return value;
}

function completedStruct(value: string, stored: StructType, target: StructType, { absent, depth }: Absence): string {
  const members = target.fields.map((field, index) => {
    const lacking = absentAt(absent, field.name);
    const source = stored.fields[index] ?? field;
    const member =
      lacking === undefined
        ? completed(`struct_extract(${value}, ${sqlText(source.name)})`, source.type, field.type, {
            absent: below(absent, field.name),
            depth,
          })
        : `CAST(${lacking.value === undefined ? 'NULL' : literalSql(lacking.value)} AS ${typeSql(field.type)})`;
    return `${quoteName(field.name)} := ${member}`;
  });
  return `CASE WHEN ${value} IS NULL THEN NULL ELSE struct_pack(${members.join(', ')}) END`;
}

function absentAt(absent: readonly AbsentMember[], name: string): AbsentMember | undefined {
  return absent.find(({ path }) => path.length === 1 && path[0] === name);
}

function below(absent: readonly AbsentMember[], name: string): readonly AbsentMember[] {
  return absent.flatMap((member) => (member.path.length > 1 && member.path[0] === name ? [{ ...member, path: member.path.slice(1) }] : []));
}
