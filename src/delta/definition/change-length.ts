import { declaredType } from '../../rows/values/length-checks.ts';
import { type FoundColumn, withFieldAt } from '../../schema/column-path.ts';
import { declaredMetadata, declaredTypeKey } from '../../schema/declared-length.ts';
import type { DataType, Field } from '../../schema/types.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import { changeColumn } from './change-columns.ts';
import type { PlannedChange } from './planned-change.ts';

type Text = Extract<DataType, { readonly kind: 'string' }>;

/**
 * ALTER COLUMN … TYPE of text to text: a length may grow or go. `undefined`: nothing changes; `refused`: values of the column may be longer, or
 * the text is inside a column, whose declaration tells of all of it.
 */
export function changeLength(snapshot: DeltaSnapshot, found: FoundColumn, to: Text): PlannedChange | 'refused' | undefined {
  const isColumn = found.path.length === 1;
  const known = isColumn ? declaredType(found.field) : undefined;
  const from = known?.kind === 'string' ? known.length : undefined;
  if (from?.kind === to.length?.kind && from?.characters === to.length?.characters) return undefined;
  if (!isColumn || !holds(from, to.length)) return 'refused';
  const kept = Object.entries(found.field.metadata ?? {}).filter(([key]) => key !== declaredTypeKey);
  const field: Field = { ...found.field, metadata: { ...Object.fromEntries(kept), ...declaredMetadata(to) } };
  return changeColumn(
    found.path,
    field,
    withFieldAt(snapshot.schema, found.path, () => field),
  );
}

/** CHAR keeps its length, for its values are as long as it says; VARCHAR may follow it. */
function holds(from: Text['length'], to: Text['length']): boolean {
  if (to === undefined) return true;
  if (from === undefined || to.kind === 'char') return false;
  return from.characters <= to.characters;
}
