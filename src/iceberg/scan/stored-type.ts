import type { FileColumn } from '../../codec/parquet/file-schema.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';
import type { AbsentMember, StoredColumn } from '../../table/scan.ts';
import { initialDefault } from './initial-default.ts';

/** The id of a file's column by its names from the root; `element`, `key` and `value` inside lists and maps. */
export type ColumnId = (column: FileColumn, path: readonly string[]) => number | undefined;

/**
 * How a file's column holds a field: the field's type with the names the file holds its members under. Members that the file lacks keep
 * their place, under a name that no file has.
 */
export function storedColumnOf(
  field: Field,
  column: FileColumn,
  options: { readonly byId: boolean; readonly idOf: ColumnId },
): StoredColumn {
  const absent: AbsentMember[] = [];
  const storedType = storedTypeOf(field.type, { column, filePath: [column.name], path: [] }, { idOf: options.idOf, absent });
  const match =
    options.byId && field.id !== undefined ? ({ by: 'id', id: field.id } as const) : ({ by: 'name', name: column.name } as const);
  return { field, match, storedType, ...(absent.length === 0 ? {} : { absent }) };
}

/** The column of a file that holds a field. */
export function columnOfField(
  field: Field,
  columns: readonly FileColumn[],
  parent: readonly string[],
  idOf: ColumnId,
): FileColumn | undefined {
  return columns.find((column) => {
    const id = idOf(column, [...parent, column.name]);
    return id !== undefined && id === field.id;
  });
}

/** Where in the file, and where in the table's column. */
interface Place {
  readonly column: FileColumn;
  readonly filePath: readonly string[];
  readonly path: readonly string[];
}

interface Resolution {
  readonly idOf: ColumnId;
  readonly absent: AbsentMember[];
}

function storedTypeOf(type: DataType, place: Place, resolution: Resolution): DataType {
  const { column } = place;
  switch (type.kind) {
    case 'struct':
      return column.kind === 'struct' ? storedStruct(type, column.members, place, resolution) : type;
    case 'list':
      return column.kind === 'list'
        ? { ...type, element: storedTypeOf(type.element, inside(place, column.element, 'element'), resolution) }
        : type;
    case 'map':
      if (column.kind !== 'map') return type;
      return {
        ...type,
        key: storedTypeOf(type.key, inside(place, column.key, 'key'), resolution),
        value: storedTypeOf(type.value, inside(place, column.value, 'value'), resolution),
      };
    default:
      return type;
  }
}

function inside(place: Place, column: FileColumn, part: 'element' | 'key' | 'value'): Place {
  return { column, filePath: [...place.filePath, part], path: [...place.path, part] };
}

function storedStruct(type: StructType, members: readonly FileColumn[], place: Place, resolution: Resolution): StructType {
  return {
    kind: 'struct',
    fields: type.fields.map((field) => {
      const path = [...place.path, field.name];
      const column = columnOfField(field, members, place.filePath, resolution.idOf);
      if (column === undefined) {
        resolution.absent.push({ path, value: initialDefault(field) });
        return { ...field, name: absentName(field, members) };
      }
      const inner = { column, filePath: [...place.filePath, column.name], path };
      return { ...field, name: column.name, type: storedTypeOf(field.type, inner, resolution) };
    }),
  };
}

/** A name no member has, in whatever case. */
function absentName(field: Field, members: readonly FileColumn[]): string {
  let name = `__absent_${field.id ?? field.name}`;
  while (members.some((member) => member.name.toLowerCase() === name.toLowerCase())) name += '_';
  return name;
}
