import type { Field, StructType } from '../schema/types.ts';

/** A column that no star shows and no schema has: it tells of a row where it lies and what it is known by. */
export interface HiddenColumn {
  readonly field: Field;
  readonly value: HiddenValue;
}

export type HiddenValue =
  /** The same for all rows of a file: what `FileScan.facts` has under the field's name. */
  | { readonly kind: 'of-file' }
  /** BIGINT: physical position in the file, from 0. */
  | { readonly kind: 'position' }
  /** BIGINT: as `FileScan.rowTracking` says; null where neither the row nor its file has one. */
  | { readonly kind: 'row-id' }
  | { readonly kind: 'commit-version' }
  | { readonly kind: 'struct'; readonly members: readonly HiddenColumn[] };

/** The columns of these names; tables take the names from what they offered before. */
export function hiddenNamed(columns: readonly HiddenColumn[], names: readonly string[]): readonly HiddenColumn[] {
  return columns.filter(({ field }) => names.includes(field.name));
}

/** The columns and members whose values are the files'. */
export function ofFiles(columns: readonly HiddenColumn[]): StructType {
  return { kind: 'struct', fields: fieldsOfFiles(columns) };
}

function fieldsOfFiles(columns: readonly HiddenColumn[]): readonly Field[] {
  return columns.flatMap(({ field, value }) => {
    if (value.kind === 'struct') return fieldsOfFiles(value.members);
    return value.kind === 'of-file' ? [field] : [];
  });
}
