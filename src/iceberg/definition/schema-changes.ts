import type { TimeZone } from '../../expr/time-zone.ts';
import { type FoundColumn, fieldNamed, findColumn, hasColumn, withFieldAt, withFields, withTypeAt } from '../../schema/column-path.ts';
import { hasLength } from '../../schema/declared-length.ts';
import { describeType } from '../../schema/describe-type.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';
import { fieldExists, movedColumn, placed } from '../../table/column-changes.ts';
import type { DefinitionChange } from '../../table/definition-changes.ts';
import { columnsById, fieldById } from '../metadata/schema-fields.ts';
import type { IcebergSchema, TableMetadata } from '../metadata/table-metadata.ts';
import { type DefaultOptions, defaultValue, sqlDefaultKey, withDefaults, writeDefaultKey } from './default-value.ts';
import { nullableToRequired, unsupportedChange, unsupportedType } from './definition-errors.ts';
import { describeField } from './describe-field.ts';
import { idsAfter, typeWithIds } from './field-ids.ts';
import { canPromote } from './promote-type.ts';

/** Changes of columns alone. */
export type SchemaChange = Extract<
  DefinitionChange,
  {
    readonly kind:
      | 'add-columns'
      | 'rename-column'
      | 'drop-columns'
      | 'change-type'
      | 'change-nullability'
      | 'change-comment'
      | 'move-column'
      | 'change-default'
      | 'set-identifier-fields'
      | 'drop-identifier-fields';
  }
>;

type ChangeOf<Kind extends SchemaChange['kind']> = Extract<SchemaChange, { readonly kind: Kind }>;

/** A schema to be, and the highest id that its table has given out. */
export interface ChangedSchema {
  readonly struct: StructType;
  readonly identifierFieldIds: readonly number[];
  readonly lastColumnId: number;
}

/** What a schema is changed in. */
interface Subject {
  readonly table: string;
  readonly metadata: TableMetadata;
  readonly schema: IcebergSchema;
  /** Of local times in defaults; default: UTC. */
  readonly zone?: TimeZone | undefined;
}

/**
 * The current schema of a table after a change (https://iceberg.apache.org/spec/#schema-evolution): columns keep their ids whatever they
 * are called and wherever they stand, so that old files stay readable. The current schema itself may come out.
 *
 * @throws AnalysisException what `findColumn` throws, `FIELD_ALREADY_EXISTS` (42710), `NOT_SUPPORTED_CHANGE_COLUMN` (0A000),
 * `_LEGACY_ERROR_TEMP_2330` for optional to required, `_LEGACY_ERROR_TEMP_2045` for everything else a table cannot take.
 */
export function changeSchema(subject: Subject, change: SchemaChange): ChangedSchema {
  const { metadata, schema, zone } = subject;
  const { formatVersion } = metadata;
  const same = { struct: schema.struct, identifierFieldIds: schema.identifierFieldIds, lastColumnId: metadata.lastColumnId };
  switch (change.kind) {
    case 'add-columns':
      return addColumns(same, change, { formatVersion, zone });
    case 'rename-column':
      return { ...same, struct: renamed(schema.struct, change) };
    case 'drop-columns':
      return { ...same, struct: withoutColumns(schema, change) };
    case 'change-type':
      return { ...same, struct: withType(subject, change) };
    case 'change-nullability':
      return { ...same, struct: withNullability(schema.struct, change) };
    case 'change-comment':
      return { ...same, struct: withMetadata(schema.struct, change.path, 'comment', change.comment) };
    case 'move-column':
      return { ...same, struct: moved(schema.struct, change) };
    case 'change-default':
      return { ...same, struct: withDefault(schema.struct, change, { formatVersion, zone }) };
    case 'set-identifier-fields':
      return { ...same, identifierFieldIds: change.paths.map((path) => idAt(schema.struct, path)) };
    default:
      return { ...same, identifierFieldIds: withoutIdentifiers(schema, change) };
  }
}

function addColumns(base: ChangedSchema, change: ChangeOf<'add-columns'>, options: DefaultOptions): ChangedSchema {
  const ids = idsAfter(base.lastColumnId);
  let { struct } = base;
  for (const { parent, field, place } of change.columns) {
    const within = parentPath(struct, parent);
    const into = within.length === 0 ? struct : findColumn(struct, within).type;
    const path = [...within, field.name];
    if (into.kind !== 'struct') throw unsupportedChange(`Cannot add to non-struct column: ${within.join('.')}: ${describeType(into)}`);
    if (within.includes('key') && isInMapKey(struct, within)) throw unsupportedChange('Cannot add fields to map keys');
    if (fieldNamed(into.fields, field.name) !== undefined) throw fieldExists('add', path, into);
    const defined = withDefaults(field, { ...options, forOldRows: true });
    if (!defined.nullable && defined.metadata?.[writeDefaultKey] === undefined) {
      throw unsupportedChange(
        `Incompatible change: cannot add required column without a default value: ${path.join('.')}`,
        'rows that are there have no value for it: add it without NOT NULL',
      );
    }
    const id = ids.next(path);
    const added: Field = { ...defined, id, type: typeWithIds(defined.type, ids, path) };
    struct = withFields(struct, within, (fields) => placed(fields, added, place));
  }
  return { ...base, struct, lastColumnId: ids.last };
}

/** A list or map as parent means the struct in it: its element or value. */
function parentPath(struct: StructType, parent: readonly string[]): readonly string[] {
  if (parent.length === 0) return parent;
  const { path, type } = findColumn(struct, parent);
  if (type.kind === 'list') return [...path, 'element'];
  return type.kind === 'map' ? [...path, 'value'] : path;
}

function isInMapKey(struct: StructType, path: readonly string[]): boolean {
  return path.some((part, index) => part === 'key' && index > 0 && findColumn(struct, path.slice(0, index)).type.kind === 'map');
}

function renamed(struct: StructType, { path, to }: ChangeOf<'rename-column'>): StructType {
  const found = columnAt(struct, path);
  const parent = found.path.slice(0, -1);
  if (hasColumn(struct, [...parent, to])) {
    const into = parent.length === 0 ? struct : findColumn(struct, parent).type;
    throw fieldExists('rename', [...parent, to], into.kind === 'struct' ? into : struct);
  }
  return withFieldAt(struct, found.path, (field) => ({ ...field, name: to }));
}

function withoutColumns(schema: IcebergSchema, { paths, ifExists }: ChangeOf<'drop-columns'>): StructType {
  let { struct } = schema;
  for (const path of paths) {
    if (ifExists === true && !hasColumn(struct, path)) continue;
    const found = columnAt(struct, path);
    checkDroppable(schema, found);
    struct = withFields(struct, found.path.slice(0, -1), (fields) => {
      if (fields.length === 1) throw unsupportedChange(`Cannot drop the only column: ${found.path.join('.')}`);
      return fields.filter((field) => field !== found.field);
    });
  }
  return struct;
}

/** Columns that tell rows apart stay. */
function checkDroppable(schema: IcebergSchema, { field, path }: FoundColumn): void {
  for (const id of schema.identifierFieldIds) {
    const identifier = fieldById(schema, id);
    if (identifier?.field === undefined) continue;
    if (field.id === id) {
      throw unsupportedChange(
        `Cannot delete identifier field ${describeField(identifier.field)}. To force deletion, also call setIdentifierFields to update ` +
          'identifier fields.',
        'ALTER TABLE … DROP IDENTIFIER FIELDS …',
      );
    }
    if (path.every((part, index) => part === identifier.path[index])) {
      throw unsupportedChange(
        `Cannot delete field ${describeField(field)} as it will delete nested identifier field ${describeField(identifier.field)}`,
        'ALTER TABLE … DROP IDENTIFIER FIELDS …',
      );
    }
  }
}

function withType({ table, metadata, schema }: Subject, change: ChangeOf<'change-type'>): StructType {
  const found = findColumn(schema.struct, change.path);
  const to: DataType = change.type.kind === 'byte' || change.type.kind === 'short' ? { kind: 'integer' } : change.type;
  // The format has no place for a length.
  if (hasLength(to)) throw unsupportedType(table, found.path, found.type, to);
  if (describeType(found.type) === describeType(to)) return schema.struct;
  const column = [...columnsById(schema).values()].find(({ path }) => path.join('\0') === found.path.join('\0'));
  const spec = metadata.partitionSpecs.find(({ specId }) => specId === metadata.defaultSpecId);
  const transforms = (spec?.fields ?? []).filter(({ sourceId }) => sourceId === column?.id).map(({ transform }) => transform);
  if (!canPromote(found.type, to, { formatVersion: metadata.formatVersion, transforms })) {
    throw unsupportedType(table, found.path, found.type, to);
  }
  return withTypeAt(schema.struct, found.path, () => to);
}

function withNullability(struct: StructType, { path, nullable }: ChangeOf<'change-nullability'>): StructType {
  const found = columnAt(struct, path);
  if (found.field.nullable === nullable) return struct;
  if (!nullable) throw nullableToRequired(found.path.join('.'));
  return withFieldAt(struct, found.path, (field) => ({ ...field, nullable }));
}

function moved(struct: StructType, { path, place }: ChangeOf<'move-column'>): StructType {
  const found = columnAt(struct, path);
  if (place.kind === 'after' && place.sibling.toLowerCase() === found.field.name.toLowerCase()) {
    throw unsupportedChange(`Cannot move ${found.path.join('.')} after itself`);
  }
  return movedColumn(struct, found, place);
}

function withDefault(struct: StructType, { path, expression }: ChangeOf<'change-default'>, options: DefaultOptions): StructType {
  const { field } = columnAt(struct, path);
  const value = expression === undefined ? undefined : defaultValue(expression, field, options);
  return withMetadata(struct, path, writeDefaultKey, value ?? undefined);
}

function withMetadata(struct: StructType, path: readonly string[], key: string, value: unknown): StructType {
  const found = columnAt(struct, path);
  if (found.field.metadata?.[key] === value) return struct;
  return withFieldAt(struct, found.path, (field) => {
    const kept = Object.entries(field.metadata ?? {}).filter(([name]) => name !== key && name !== sqlDefaultKey);
    return { ...field, metadata: Object.fromEntries(value === undefined ? kept : [...kept, [key, value]]) };
  });
}

function withoutIdentifiers(schema: IcebergSchema, { paths }: ChangeOf<'drop-identifier-fields'>): readonly number[] {
  const gone = new Set(
    paths.map((path) => {
      const id = idAt(schema.struct, path);
      if (schema.identifierFieldIds.includes(id)) return id;
      throw unsupportedChange(`Cannot complete drop identifier fields operation: field ${path.join('.')} is not an identifier field`);
    }),
  );
  return schema.identifierFieldIds.filter((id) => !gone.has(id));
}

/** A column with a name of its own, not what is inside a list or map. */
function columnAt(struct: StructType, path: readonly string[]): FoundColumn {
  const found = findColumn(struct, path);
  if (found.inner.length === 0) return found;
  throw unsupportedChange(`${path.join('.')} is inside a list or map and has no name of its own`);
}

function idAt(struct: StructType, path: readonly string[]): number {
  const { field } = columnAt(struct, path);
  return field.id ?? -1;
}
