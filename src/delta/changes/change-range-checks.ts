import { AnalysisException } from '../../base/analysis-exception.ts';
import { innerFields } from '../../schema/type-tree.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';
import type { Version } from '../../table/version.ts';
import { type MappingMode, physicalName } from '../column-mapping/physical-schema.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import { printSchemaString } from '../schema-json.ts';

interface Range {
  readonly from: Version;
  readonly until: Version;
}

/** The changes of `version`, which a range asks for, were never recorded. */
export function changesNotRecorded(table: string, range: Range, version: Version): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_MISSING_CHANGE_DATA',
    message:
      `Error getting change data for range [${range.from} , ${range.until}] as change data was not recorded for version [${version}]. ` +
      `If you've enabled change data feed on this table, use \`DESCRIBE HISTORY\` to see when it was first enabled. Otherwise, to start ` +
      'recording change data, use `ALTER TABLE table_name SET TBLPROPERTIES (delta.enableChangeDataFeed=true)`.',
    parameters: { startVersion: String(range.from), endVersion: String(range.until), version: String(version) },
    context: { table, version },
  });
}

/**
 * Refuses a range of which some version cannot be shown in the schema of its last: columns may only have been added to it, or have become
 * nullable.
 *
 * @throws AnalysisException `DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE` (a column of a mapped table was renamed or dropped),
 * `DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA` (any other difference).
 */
export function checkReadableAs(last: DeltaSnapshot, version: DeltaSnapshot, range: Range, table: string): void {
  if (version.metadata === last.metadata) return;
  if (last.mapping !== 'none' && !keepsColumns(version.schema, last.schema, version.mapping)) {
    throw incompatible({ errorClass: 'DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE', last, version, range, table });
  }
  if (!isReadableAs(version.schema, last.schema)) {
    throw incompatible({ errorClass: 'DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA', last, version, range, table });
  }
}

/** Whether every column is still there, by the name it has in files, under the name users know it by. */
function keepsColumns(before: StructType, after: StructType, mapping: MappingMode): boolean {
  const byStoredName = new Map(after.fields.map((field) => [physicalName(field), field]));
  return before.fields.every((field) => {
    const kept = byStoredName.get(mapping === 'none' ? field.name : physicalName(field));
    if (kept?.name !== field.name) return false;
    return structsIn(field.type).every((struct, index) => {
      const other = structsIn(kept.type)[index];
      return other !== undefined && keepsColumns(struct, other, mapping);
    });
  });
}

/** The structs a type is made of, outermost first, without those inside them. */
function structsIn(type: DataType): readonly StructType[] {
  return type.kind === 'struct' ? [type] : innerFields(type).flatMap((field) => structsIn(field.type));
}

function isReadableAs(before: DataType, after: DataType): boolean {
  if (before.kind === 'struct' && after.kind === 'struct') {
    const beforeByName = new Map(before.fields.map((field) => [field.name.toLowerCase(), field]));
    const afterByName = new Map(after.fields.map((field) => [field.name.toLowerCase(), field]));
    return (
      before.fields.every((field) => isFieldReadableAs(field, afterByName.get(field.name.toLowerCase()))) &&
      after.fields.every((field) => field.nullable || beforeByName.has(field.name.toLowerCase()))
    );
  }
  if (before.kind === 'list' && after.kind === 'list') {
    return (after.elementNullable || !before.elementNullable) && isReadableAs(before.element, after.element);
  }
  if (before.kind === 'map' && after.kind === 'map') {
    return (after.valueNullable || !before.valueNullable) && isReadableAs(before.key, after.key) && isReadableAs(before.value, after.value);
  }
  if (before.kind === 'decimal' && after.kind === 'decimal') return before.precision === after.precision && before.scale === after.scale;
  return before.kind === after.kind;
}

function isFieldReadableAs(before: Field, after: Field | undefined): boolean {
  return after !== undefined && (after.nullable || !before.nullable) && isReadableAs(before.type, after.type);
}

function incompatible(found: {
  readonly errorClass: 'DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE' | 'DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA';
  readonly last: DeltaSnapshot;
  readonly version: DeltaSnapshot;
  readonly range: Range;
  readonly table: string;
}): AnalysisException {
  const { errorClass, last, version, range } = found;
  const what = errorClass.endsWith('SCHEMA_CHANGE') ? 'schema change' : 'data schema';
  const schema = printSchemaString(last.schema);
  return new AnalysisException({
    errorClass,
    kind: 'unsupported',
    message:
      `Retrieving table changes between version ${range.from} and ${range.until} failed because of an incompatible ${what}.\n` +
      `Your read schema is ${schema} at version ${last.version}, but we found an incompatible ${what} at version ${version.version}.\n` +
      `If possible, please query table changes separately from version ${range.from} to ${version.version} - 1, and from version ` +
      `${version.version} to ${range.until}.`,
    parameters: {
      start: String(range.from),
      end: String(range.until),
      readSchema: schema,
      readVersion: String(last.version),
      incompatibleVersion: String(version.version),
    },
    context: { table: found.table },
  });
}
