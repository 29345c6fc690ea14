import type { BytesBuilder } from '../../codec/columns/bytes-builder.ts';
import type { Field } from '../../schema/types.ts';
import type { Rejection } from './rejection.ts';

/**
 * Whether the empty string must be refused in the column: tables store partition values as text in which the empty string means null
 * (Delta protocol: Partition Value Serialization), and this column has no null.
 */
export function refusesEmptyText(field: Field, partitionColumns: readonly string[]): boolean {
  return field.type.kind === 'string' && !field.nullable && partitionColumns.includes(field.name);
}

/** Of a column that takes no empty string and has just got a value: what is wrong with it. */
export function emptyTextRejection(name: string, column: BytesBuilder): Rejection | undefined {
  if (!column.lastIsEmpty) return undefined;
  return {
    reason: 'missing-required',
    message: `column "${name}": "" is not allowed in a required partition column: a table cannot tell the empty string from no value there`,
  };
}
