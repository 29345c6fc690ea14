import { AnalysisException } from '../../base/analysis-exception.ts';
import { nearestName } from '../../base/nearest-name.ts';
import { columnPathSql, quoteName } from '../../expr/sql/engine-sql.ts';
import { someType } from '../../schema/type-tree.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';
import { columnAt, columnPath } from '../metadata/schema-fields.ts';
import type { SnapshotState } from '../snapshot-state.ts';

/** What a changelog adds behind the table's columns (https://iceberg.apache.org/docs/latest/spark-procedures/#changelog-schema). */
export const changelogNames = { type: '_change_type', ordinal: '_change_ordinal', snapshot: '_commit_snapshot_id' } as const;

const changelogFields: readonly Field[] = [
  { name: changelogNames.type, type: { kind: 'string' }, nullable: false },
  { name: changelogNames.ordinal, type: { kind: 'integer' }, nullable: false },
  { name: changelogNames.snapshot, type: { kind: 'long' }, nullable: false },
];

/** The columns of a changelog. @throws AnalysisException `RESERVED_COLUMN_NAME` for a table that has one of them itself. */
export function changelogSchema({ fields }: StructType): StructType {
  const taken = fields.filter(({ name }) => changelogFields.some((added) => added.name === name.toLowerCase()));
  if (taken.length === 0) return { kind: 'struct', fields: [...fields, ...changelogFields] };
  throw new AnalysisException({
    errorClass: 'RESERVED_COLUMN_NAME',
    message: `the table has columns [${taken.map(({ name }) => name).join(', ')}], which a changelog adds itself`,
    hint: 'rename or drop these columns',
  });
}

/** Columns that tell rows apart. */
export interface Identifier {
  /** As they were given, for messages. */
  readonly names: readonly string[];
  readonly columns: readonly string[];
}

/**
 * The identifier columns of a changelog, as SQL; default: those of the schema.
 *
 * @throws AnalysisException `UNRESOLVED_COLUMN.WITH_SUGGESTION` (42703), `INVALID_ARGUMENT` when there are none.
 */
export function identifierOf({ icebergSchema, schema }: SnapshotState, given: readonly string[] | undefined): Identifier {
  const names = given ?? icebergSchema.identifierFieldIds.flatMap((id) => columnPath(icebergSchema, id) ?? []);
  if (names.length === 0) {
    throw new AnalysisException({
      errorClass: 'INVALID_ARGUMENT',
      message: 'Cannot compute the update images because identifier columns are not set',
      hint: "give identifier_columns, or set the table's: ALTER TABLE … SET IDENTIFIER FIELDS …",
    });
  }
  const columns = names.map((name) => {
    const found = columnAt(icebergSchema, [name]) ?? columnAt(icebergSchema, name.split('.'));
    if (found === undefined || found.repeated) throw unresolved(name, schema);
    return keySql(columnPathSql(found.path), found.type);
  });
  return { names, columns };
}

/**
 * Terms by which rows are equal when they are the same rows, and by which they can be sorted: zeros of different sign are different values.
 * The engine gives back columns that it sorts or groups by without the sign of their zeros, hence columns with such numbers are no terms
 * themselves.
 */
export function rowKeys({ fields }: StructType): readonly string[] {
  return fields.flatMap(({ name, type }) => {
    const column = quoteName(name);
    const key = keySql(column, type);
    if (type.kind !== 'float' && type.kind !== 'double') return [key];
    return [key, `(signbit(${column}) AND NOT isnan(${column}))`];
  });
}

/** Whether there is a floating-point number in values of the type. */
export function holdsFloats(type: DataType): boolean {
  return someType(type, ({ kind }) => kind === 'float' || kind === 'double');
}

function keySql(column: string, type: DataType): string {
  return holdsFloats(type) ? `{'v': ${column}}` : column;
}

function unresolved(name: string, { fields }: StructType): AnalysisException {
  const names = fields.map((field) => field.name);
  const nearest = nearestName(name, names);
  return new AnalysisException({
    errorClass: 'UNRESOLVED_COLUMN.WITH_SUGGESTION',
    message: `identifier column ${name} is no column of the table that has one value a row`,
    hint: nearest === undefined ? `columns: ${names.join(', ')}` : `did you mean ${nearest}?`,
    parameters: { objectName: name, proposal: names.join(', ') },
  });
}
