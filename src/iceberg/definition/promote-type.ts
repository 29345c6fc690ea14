import type { DataType } from '../../schema/types.ts';
import type { Transform } from '../../table/partitioning/transform.ts';

/** What decides whether a type may change, beside the types. */
export interface PromotionScope {
  readonly formatVersion: number;
  /** That the present partitioning makes of the column. */
  readonly transforms: readonly Transform[];
}

/** Whether files with the one type are read as the other (https://iceberg.apache.org/spec/#schema-evolution). */
export function canPromote(from: DataType, to: DataType, { formatVersion, transforms }: PromotionScope): boolean {
  if (from.kind === 'integer') return to.kind === 'long';
  if (from.kind === 'float') return to.kind === 'double';
  if (from.kind === 'decimal') return to.kind === 'decimal' && to.scale === from.scale && to.precision > from.precision;
  if (from.kind === 'date') {
    const local = to.kind === 'timestamp_ntz' || to.kind === 'timestamp_ntz_ns';
    // A day counts the same of a date and of a time; the value itself, and its hash, do not.
    return formatVersion >= 3 && local && transforms.every(({ kind }) => kind !== 'identity' && kind !== 'bucket');
  }
  return false;
}
