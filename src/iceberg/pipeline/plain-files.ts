import type { FileColumn, FileSchema } from '../../codec/parquet/file-schema.ts';
import type { DataType, Field } from '../../schema/types.ts';

/**
 * Whether reading a Parquet file by the names of a schema gives what reading it by ids does: every column is there under its name, or is
 * nowhere and null in every row. `constants`: ids of columns that the file's partition may stand for.
 */
export function isPlain(fields: readonly Field[], file: FileSchema, constants: ReadonlySet<number>): boolean {
  return file.hasIds && fields.every((field) => isPlainColumn(field, file.columns, constants));
}

function isPlainColumn(field: Field, columns: readonly FileColumn[], constants: ReadonlySet<number>): boolean {
  const { id, name, type } = field;
  if (id === undefined) return false;
  const column = columns.find((candidate) => candidate.id === id);
  if (column !== undefined) return column.name === name && isPlainType(type, column);
  const hasDefault = field.metadata?.['initial-default'] !== undefined;
  return field.nullable && !hasDefault && !constants.has(id) && !columns.some((candidate) => candidate.name === name);
}

/** Nested members are all there, for what is missing inside of a column is the business of who reads by ids. */
function isPlainType(type: DataType, column: FileColumn): boolean {
  switch (type.kind) {
    case 'struct':
      return (
        column.kind === 'struct' &&
        column.members.length === type.fields.length &&
        type.fields.every((field, index) => {
          const member = column.members[index];
          return member !== undefined && member.id === field.id && member.name === field.name && isPlainType(field.type, member);
        })
      );
    case 'list':
      return column.kind === 'list' && column.element.id === type.elementId && isPlainType(type.element, column.element);
    case 'map':
      return (
        column.kind === 'map' &&
        column.key.id === type.keyId &&
        column.value.id === type.valueId &&
        isPlainType(type.key, column.key) &&
        isPlainType(type.value, column.value)
      );
    default:
      return column.kind === 'leaf';
  }
}
