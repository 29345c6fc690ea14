import type { FileSchema } from '../../codec/parquet/file-schema.ts';
import type { Literal } from '../../expr/expression.ts';
import type { StructType } from '../../schema/types.ts';
import type { FileLayout, StoredColumn } from '../../table/scan.ts';
import type { PartitionSpec } from '../metadata/table-metadata.ts';
import { initialDefault } from './initial-default.ts';
import type { NameToId } from './name-to-id.ts';
import { type ColumnId, columnOfField, storedColumnOf } from './stored-type.ts';

/** An identity field of a spec. */
export interface IdentityField {
  readonly sourceId: number;
  /** Place in the partition tuple. */
  readonly place: number;
}

export function identityFieldsOf(spec: PartitionSpec | undefined): readonly IdentityField[] {
  return (spec?.fields ?? []).flatMap(({ transform, sourceId }, place) => (transform.kind === 'identity' ? [{ sourceId, place }] : []));
}

/**
 * How files hold the columns of a schema (https://iceberg.apache.org/spec/#column-projection): by field id; files without ids by the table's
 * name mapping, or without one by the places of their columns. Files of the same columns and spec share one layout.
 */
export class FileLayouts {
  readonly #schema: StructType;
  readonly #nameToId: NameToId | undefined;
  readonly #byName: boolean;
  readonly #coarser: ReadonlySet<number>;
  readonly #layouts = new Map<FileSchema, Map<number, FileLayout>>();

  /**
   * @param options.byName columns are found by the files' own names, for readers that know no ids.
   * @param options.coarser ids of columns that files may hold in a coarser type.
   */
  constructor(
    schema: StructType,
    nameToId: NameToId | undefined,
    options: { readonly byName?: boolean; readonly coarser?: ReadonlySet<number> } = {},
  ) {
    this.#schema = schema;
    this.#nameToId = nameToId;
    this.#byName = options.byName ?? false;
    this.#coarser = options.coarser ?? new Set();
  }

  of(file: FileSchema, specId: number, identities: readonly IdentityField[]): FileLayout {
    const bySpec = this.#layouts.get(file) ?? new Map<number, FileLayout>();
    this.#layouts.set(file, bySpec);
    const present = bySpec.get(specId);
    if (present !== undefined) return present;
    const layout = this.#layoutOf(file, identities);
    bySpec.set(specId, layout);
    return layout;
  }

  #layoutOf(file: FileSchema, identities: readonly IdentityField[]): FileLayout {
    const idOf = columnIds(file, this.#nameToId);
    const storedColumns: StoredColumn[] = [];
    const partitionColumns: string[] = [];
    const defaults = new Map<string, Literal>();
    for (const field of this.#schema.fields) {
      const column = columnOfField(field, file.columns, [], idOf);
      if (column !== undefined) {
        const stored = storedColumnOf(field, column, { byId: file.hasIds && !this.#byName, idOf });
        storedColumns.push(field.id !== undefined && this.#coarser.has(field.id) ? { ...stored, coarser: true } : stored);
        continue;
      }
      // What the partition says counts before any default.
      if (identities.some(({ sourceId }) => sourceId === field.id)) partitionColumns.push(field.name);
      const value = initialDefault(field);
      if (value !== undefined) defaults.set(field.name, value);
    }
    return { storedColumns, partitionColumns, ...(defaults.size === 0 ? {} : { defaults }) };
  }
}

function columnIds(file: FileSchema, nameToId: NameToId | undefined): ColumnId {
  if (file.hasIds) return (column) => column.id;
  if (nameToId !== undefined) return (_, path) => nameToId(path);
  // As other readers do: the first column is field 1, and what is nested has no id.
  return (column, path) => (path.length === 1 ? file.columns.indexOf(column) + 1 : undefined);
}
