import { AnalysisException } from '../../base/analysis-exception.ts';
import { type JsonObject, printJson } from '../../base/bigint-json.ts';
import { fieldNamed, findColumn, hasColumn, notAStruct, withFieldAt, withFields } from '../../schema/column-path.ts';
import { requiredWithin } from '../../schema/type-tree.ts';
import type { Field, StructType } from '../../schema/types.ts';
import { fieldExists, movedColumn, placed } from '../../table/column-changes.ts';
import type { ColumnPlace, DefinitionChange } from '../../table/definition-changes.ts';
import { clusteringColumnsOf } from '../clustering.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import { supportsFeature } from '../protocol-for.ts';
import { fieldForm } from '../schema-json.ts';
import { defaultsNotEnabled } from '../table-definition.ts';
import { checkDefault } from './check-default.ts';
import { checkGenerated } from './check-generated.ts';
import { checkNames } from './check-schema.ts';
import { checkNothingDependsOn } from './dependent-columns.ts';
import type { PlannedChange } from './planned-change.ts';

type ChangeOf<Kind extends DefinitionChange['kind']> = Extract<DefinitionChange, { readonly kind: Kind }>;

/**
 * ADD COLUMNS.
 *
 * @throws AnalysisException `FIELD_ALREADY_EXISTS` (42710), `FIELD_NOT_FOUND` (42704) of a sibling, what `findColumn` throws,
 * `DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES`, `DELTA_OPERATION_NOT_ALLOWED` (0AKDC) of NOT NULL, `WRONG_COLUMN_DEFAULTS_FOR_DELTA_ALTER_TABLE_ADD_COLUMN_NOT_SUPPORTED`,
 * and what `checkGenerated` throws.
 */
export function addColumns(snapshot: DeltaSnapshot, change: ChangeOf<'add-columns'>): PlannedChange | undefined {
  if (change.columns.length === 0) return undefined;
  let { schema } = snapshot;
  const shown: JsonObject[] = [];
  for (const { parent, field, place } of change.columns) {
    const within = parent.length === 0 ? [] : findColumn(schema, parent).path;
    checkAddable(schema, within, field, snapshot);
    schema = withFields(schema, within, (fields) => placed(fields, field, place));
    shown.push({ column: fieldForm({ ...field, name: [...within, field.name].join('.') }), position: positionText(place) });
  }
  const added = change.columns.map(({ field }) => field);
  checkGenerated(snapshot.metadata.name ?? snapshot.metadata.id, schema, added);
  return { operation: 'ADD COLUMNS', operationParameters: { columns: printJson(shown) }, schema };
}

/**
 * RENAME COLUMN; needs column mapping, for files keep the names they were written with.
 *
 * @throws AnalysisException `DELTA_UNSUPPORTED_RENAME_COLUMN` (0AKDC), what `findColumn` throws, `FIELD_ALREADY_EXISTS`, what depends on the column.
 */
export function renameColumn(snapshot: DeltaSnapshot, change: ChangeOf<'rename-column'>): PlannedChange {
  if (snapshot.mapping === 'none') throw needsMapping('DELTA_UNSUPPORTED_RENAME_COLUMN', 'Column rename');
  const found = findColumn(snapshot.schema, change.path);
  if (found.inner.length > 0) throw notAColumn(change.path);
  checkNothingDependsOn(snapshot, found.path, 'rename');
  const parent = found.path.slice(0, -1);
  const target = [...parent, change.to];
  if (hasColumn(snapshot.schema, target)) throw fieldExists('rename', target, snapshot.schema);
  const schema = withFieldAt(snapshot.schema, found.path, (field) => ({ ...field, name: change.to }));
  const topLevel = parent.length === 0;
  return {
    operation: 'RENAME COLUMN',
    operationParameters: { oldColumnPath: found.path.join('.'), newColumnPath: target.join('.') },
    schema,
    partitionColumns: snapshot.partitionColumns.map((name) => (topLevel && name === found.field.name ? change.to : name)),
  };
}

/**
 * DROP COLUMNS; needs column mapping.
 *
 * @throws AnalysisException `DELTA_UNSUPPORTED_DROP_COLUMN`, `DELTA_UNSUPPORTED_DROP_PARTITION_COLUMN`,
 * `DELTA_UNSUPPORTED_DROP_CLUSTERING_COLUMN`, `DELTA_DROP_COLUMN_ON_SINGLE_FIELD_SCHEMA` (all 0AKDC), what `findColumn` throws, what depends on the column.
 */
export function dropColumns(snapshot: DeltaSnapshot, change: ChangeOf<'drop-columns'>): PlannedChange | undefined {
  const present = change.paths.filter((path) => change.ifExists !== true || hasColumn(snapshot.schema, path));
  if (present.length === 0) return undefined;
  if (snapshot.mapping === 'none') throw needsMapping('DELTA_UNSUPPORTED_DROP_COLUMN', 'DROP COLUMN');
  let { schema } = snapshot;
  const dropped: string[] = [];
  for (const path of present) {
    const found = findColumn(schema, path);
    checkDroppable(snapshot, found);
    schema = withFields(schema, found.path.slice(0, -1), (fields) => {
      if (fields.length === 1) throw lastField(found.path);
      return fields.filter((field) => field !== found.field);
    });
    dropped.push(found.path.join('.'));
  }
  return { operation: 'DROP COLUMNS', operationParameters: { columns: printJson(dropped) }, schema };
}

/** ALTER COLUMN … FIRST / AFTER. @throws AnalysisException what `findColumn` throws. */
export function moveColumn(snapshot: DeltaSnapshot, change: ChangeOf<'move-column'>): PlannedChange {
  const found = findColumn(snapshot.schema, change.path);
  if (found.inner.length > 0) throw notAColumn(change.path);
  return changeColumn(found.path, found.field, movedColumn(snapshot.schema, found, change.place), change.place);
}

/** ALTER COLUMN … DROP NOT NULL. @throws AnalysisException `_LEGACY_ERROR_TEMP_2330` for the other way round, what `findColumn` throws. */
export function changeNullability(snapshot: DeltaSnapshot, change: ChangeOf<'change-nullability'>): PlannedChange | undefined {
  const found = findColumn(snapshot.schema, change.path);
  if (found.inner.length > 0) throw notAColumn(change.path);
  if (found.field.nullable === change.nullable) return undefined;
  if (!change.nullable) {
    throw new AnalysisException({
      errorClass: '_LEGACY_ERROR_TEMP_2330',
      message: `Cannot change nullable column to non-nullable: ${found.path.join('.')}.`,
      parameters: { fieldName: found.path.join('.') },
      hint: 'add a CHECK constraint (column IS NOT NULL) instead',
    });
  }
  const field = { ...found.field, nullable: true };
  return changedField(snapshot, found.path, field);
}

/** ALTER COLUMN … COMMENT. @throws AnalysisException what `findColumn` throws. */
export function changeComment(snapshot: DeltaSnapshot, change: ChangeOf<'change-comment'>): PlannedChange | undefined {
  return withMetadata(snapshot, change.path, 'comment', change.comment);
}

/**
 * ALTER COLUMN … SET / DROP DEFAULT; for rows to come.
 *
 * @throws AnalysisException `WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED` (0AKDE), what `findColumn` throws, and what `checkDefault` throws.
 */
export function changeDefault(snapshot: DeltaSnapshot, change: ChangeOf<'change-default'>): PlannedChange | undefined {
  if (change.expression !== undefined) {
    if (!supportsFeature(snapshot.protocol, 'allowColumnDefaults')) throw defaultsNotEnabled('ALTER TABLE');
    const column = findColumn(snapshot.schema, change.path);
    checkDefault(change.expression, { column: { name: change.path.at(-1) ?? '', type: column.type }, command: 'ALTER TABLE ALTER COLUMN' });
  }
  return withMetadata(snapshot, change.path, 'CURRENT_DEFAULT', change.expression);
}

function withMetadata(snapshot: DeltaSnapshot, path: readonly string[], key: string, value: string | undefined): PlannedChange | undefined {
  const found = findColumn(snapshot.schema, path);
  if (found.inner.length > 0) throw notAColumn(path);
  if (found.field.metadata?.[key] === value) return undefined;
  const kept = Object.entries(found.field.metadata ?? {}).filter(([name]) => name !== key);
  const metadata = Object.fromEntries(value === undefined ? kept : [...kept, [key, value]]);
  const field: Field = { ...found.field, metadata };
  return changedField(snapshot, found.path, field);
}

/** A CHANGE COLUMN after which the field at the path is another. */
export function changedField(snapshot: DeltaSnapshot, path: readonly string[], field: Field): PlannedChange {
  return changeColumn(
    path,
    field,
    withFieldAt(snapshot.schema, path, () => field),
  );
}

/** A CHANGE COLUMN of the history; the column is shown by its whole path. */
export function changeColumn(path: readonly string[], field: Field, schema: StructType, place?: ColumnPlace): PlannedChange {
  const column = printJson(fieldForm({ ...field, name: path.join('.') }));
  return { operation: 'CHANGE COLUMN', operationParameters: { column, position: positionText(place) }, schema };
}

function positionText(place: ColumnPlace | undefined): string | undefined {
  if (place === undefined) return undefined;
  return place.kind === 'first' ? 'FIRST' : `AFTER ${place.sibling}`;
}

function checkAddable(schema: StructType, parent: readonly string[], field: Field, snapshot: DeltaSnapshot): void {
  const path = [...parent, field.name];
  const into = parent.length === 0 ? schema : findColumn(schema, parent).type;
  if (into.kind !== 'struct') throw notAStruct(path, parent.length);
  if (fieldNamed(into.fields, field.name) !== undefined) throw fieldExists('add', path, into);
  if (snapshot.mapping === 'none') checkNames({ kind: 'struct', fields: [field] });
  if (!field.nullable || requiredWithin(field.type) !== undefined) throw notNullColumn(path);
  if (field.metadata?.['CURRENT_DEFAULT'] === undefined) return;
  throw new AnalysisException({
    errorClass: 'WRONG_COLUMN_DEFAULTS_FOR_DELTA_ALTER_TABLE_ADD_COLUMN_NOT_SUPPORTED',
    message:
      'Failed to execute the command because DEFAULT values are not supported when adding new columns to previously existing Delta tables; ' +
      'please add the column without a default value first, then run a second ALTER TABLE ALTER COLUMN SET DEFAULT command to apply for ' +
      'future inserted rows instead.',
    hint: 'ALTER TABLE … ALTER COLUMN … SET DEFAULT …',
  });
}

function checkDroppable(snapshot: DeltaSnapshot, found: ReturnType<typeof findColumn>): void {
  const name = found.path.join('.');
  if (found.inner.length > 0) throw notAColumn(found.path);
  if (found.path.length === 1 && snapshot.partitionColumns.includes(name)) {
    throw refusal('DELTA_UNSUPPORTED_DROP_PARTITION_COLUMN', `Dropping partition columns (${name}) is not allowed.`, { columnList: name });
  }
  const clustered = clusteringColumnsOf(snapshot.schema, snapshot.domains()).some((path) =>
    path.join('\0').startsWith(found.path.join('\0')),
  );
  if (clustered) {
    throw refusal('DELTA_UNSUPPORTED_DROP_CLUSTERING_COLUMN', `Dropping clustering columns (${name}) is not allowed.`, {
      columnList: name,
    });
  }
  checkNothingDependsOn(snapshot, found.path, 'drop');
}

function lastField(path: readonly string[]): AnalysisException {
  return refusal('DELTA_DROP_COLUMN_ON_SINGLE_FIELD_SCHEMA', `Cannot drop column ${path.join('.')} from a schema with a single column.`, {
    columnName: path.join('.'),
  });
}

function needsMapping(errorClass: string, what: string): AnalysisException {
  return new AnalysisException({
    errorClass,
    kind: 'unsupported',
    message:
      `${what} is not supported for your Delta table. Please enable Column Mapping on your Delta table with mapping mode 'name'. You can use ` +
      "the following command. ALTER TABLE table_name SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
    hint: "ALTER TABLE … SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
  });
}

function notNullColumn(path: readonly string[]): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_OPERATION_NOT_ALLOWED',
    message: 'Operation not allowed: `NOT NULL in ALTER TABLE ADD COLUMNS` is not supported for Delta tables',
    parameters: { operation: 'NOT NULL in ALTER TABLE ADD COLUMNS' },
    hint: `rows that are there have no value for ${path.join('.')}: add it without NOT NULL`,
  });
}

function notAColumn(path: readonly string[]): AnalysisException {
  return refusal('DELTA_UNSUPPORTED_NESTED_COLUMN_CHANGE', `${path.join('.')} is inside a list or map and has no name of its own.`, {
    columnName: path.join('.'),
  });
}

function refusal(errorClass: string, message: string, parameters: Readonly<Record<string, string>>): AnalysisException {
  return new AnalysisException({ errorClass, message, parameters });
}
