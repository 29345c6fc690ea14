import { innerFields } from '../schema/type-tree.ts';
import type { Field } from '../schema/types.ts';

/** Where a column notes the types that it had before (https://github.com/delta-io/delta/blob/master/PROTOCOL.md#type-change-metadata). */
export const typeChangesKey = 'delta.typeChanges';

interface TypeChange {
  readonly fromType?: unknown;
  readonly toType?: unknown;
}

const wholeNumbers: readonly unknown[] = ['byte', 'short', 'integer', 'long'];

/** Whether files may hold the column, or what is within it, in a type that lacks values of its own: fractions, digits, times of a day. */
export function hadCoarserType(field: Field): boolean {
  const changes = typeChangesOf(field);
  return changes.some(({ toType }) => !wholeNumbers.includes(toType)) || innerFields(field.type).some(hadCoarserType);
}

/** Whether files may hold the column, which is no collection, as FLOAT. */
export function wasFloat(field: Field): boolean {
  return typeChangesOf(field).some(({ fromType }) => fromType === 'float');
}

function typeChangesOf(field: Field): readonly TypeChange[] {
  const changes: unknown = field.metadata?.[typeChangesKey];
  return Array.isArray(changes) ? changes.filter(isTypeChange) : [];
}

function isTypeChange(change: unknown): change is TypeChange {
  return typeof change === 'object' && change !== null;
}
