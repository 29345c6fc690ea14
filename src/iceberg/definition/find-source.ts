import { fieldNotFound } from '../../schema/column-path.ts';
import { columnAt, type SchemaColumn } from '../metadata/schema-fields.ts';
import type { IcebergSchema } from '../metadata/table-metadata.ts';

/** The column that something is made of. @throws AnalysisException `FIELD_NOT_FOUND` (42704). */
export function findSource(schema: IcebergSchema, path: readonly string[]): SchemaColumn {
  const found = columnAt(schema, path);
  if (found === undefined) throw fieldNotFound(path.join('.'), schema.struct.fields);
  return found;
}
