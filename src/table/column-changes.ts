import { AnalysisException } from '../base/analysis-exception.ts';
import { type FoundColumn, fieldNamed, fieldNotFound, unknownColumn, withFields } from '../schema/column-path.ts';
import { sqlTypeName } from '../schema/sql-type.ts';
import type { Field, StructType } from '../schema/types.ts';
import type { ColumnPlace } from './definition-changes.ts';

/** The fields with one more at its place; without one it is the last. @throws AnalysisException `FIELD_NOT_FOUND` for a sibling that is none. */
export function placed(fields: readonly Field[], field: Field, place: ColumnPlace | undefined): readonly Field[] {
  if (place === undefined) return [...fields, field];
  if (place.kind === 'first') return [field, ...fields];
  const sibling = fieldNamed(fields, place.sibling);
  if (sibling === undefined) throw fieldNotFound(place.sibling, fields);
  return fields.toSpliced(fields.indexOf(sibling) + 1, 0, field);
}

/** The schema with a column moved among its siblings. @throws AnalysisException `UNRESOLVED_COLUMN.WITH_SUGGESTION` for a sibling that is none. */
export function movedColumn(schema: StructType, { path, field }: FoundColumn, place: ColumnPlace): StructType {
  const parent = path.slice(0, -1);
  return withFields(schema, parent, (fields) => {
    if (place.kind === 'after' && fieldNamed(fields, place.sibling) === undefined) throw unknownColumn([...parent, place.sibling], schema);
    const others = fields.filter((other) => other !== field);
    return placed(others, field, place);
  });
}

export function fieldExists(operation: string, path: readonly string[], struct: StructType): AnalysisException {
  return new AnalysisException({
    errorClass: 'FIELD_ALREADY_EXISTS',
    alias: 'COLUMN_ALREADY_EXISTS',
    message: `Cannot ${operation} column, because ${path.map((part) => `\`${part}\``).join('.')} already exists in "${sqlTypeName(struct)}".`,
    parameters: { op: operation, fieldNames: path.join('.'), struct: sqlTypeName(struct) },
    hint: 'the case of a name does not count',
  });
}
