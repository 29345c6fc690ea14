import type { StructType } from '../../schema/types.ts';

/** Names of helper columns beside a table's own, which none of the given schemas uses. */
export interface HiddenNames {
  /** Which clause concerns a row; null: none. */
  readonly clause: string;
  /** Which file a row is of, and its position there. */
  readonly file: string;
  readonly position: string;
  /** Number of a source row. */
  readonly sourceRow: string;
  /** New value of the table's column of that place. */
  value(index: number): string;
  /** A value of that place that is drawn once for each row. */
  drawn(index: number): string;
  /** The source's column of that place. */
  source(index: number): string;
}

export function hiddenNames(schemas: readonly StructType[]): HiddenNames {
  const names = schemas.flatMap((schema) => schema.fields.map((field) => field.name.toLowerCase()));
  let prefix = '__row_';
  while (names.some((name) => name.startsWith(prefix))) prefix = `_${prefix}`;
  return {
    clause: `${prefix}clause`,
    file: `${prefix}file`,
    position: `${prefix}position`,
    sourceRow: `${prefix}source`,
    value: (index) => `${prefix}value_${index}`,
    drawn: (index) => `${prefix}drawn_${index}`,
    source: (index) => `${prefix}source_${index}`,
  };
}
