import { simpleTypeName } from './simple-type.ts';
import { quotedWhenNeeded } from './sql-type.ts';
import { someType, withInnerTypes } from './type-tree.ts';
import type { DataType } from './types.ts';

/** Field metadata, by Spark's name, that keeps the declared type of a column whose text has a length: `varchar(5)`, `array<char(2)>`. */
export const declaredTypeKey = '__CHAR_VARCHAR_TYPE_STRING';

/** A declared type as rows have it: text without its length. */
export function withoutLengths(type: DataType): DataType {
  if (type.kind === 'string') return type.length === undefined ? type : { kind: 'string' };
  return withInnerTypes(type, withoutLengths);
}

/** What the metadata of a field of the declared type has to keep; empty when no text of it has a length. */
export function declaredMetadata(type: DataType): Readonly<Record<string, unknown>> {
  return hasLength(type) ? { [declaredTypeKey]: simpleTypeName(type, quotedWhenNeeded) } : {};
}

/** Whether text of the declared type has a length somewhere. */
export function hasLength(type: DataType): boolean {
  return someType(type, (inner) => inner.kind === 'string' && inner.length !== undefined);
}
