import { unsupported } from '../../base/unsupported-feature.ts';
import type { TimeZone } from '../../expr/time-zone.ts';
import { columnExists } from '../../schema/column-exists.ts';
import type { ColumnIds } from '../../schema/column-ids.ts';
import { duplicatePath } from '../../schema/type-tree.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';
import { noPartitionColumn, partitionedTwice } from '../../table/partitioning/partition-errors.ts';
import type { PartitionFieldDefinition, Transform } from '../../table/partitioning/transform.ts';
import { printTransform } from '../../table/partitioning/transform.ts';
import type { TableDefinition } from '../../table/table.ts';
import type { CreateRequest } from '../../table/table-formats.ts';
import type { MetadataUpdate } from '../metadata/metadata-updates.ts';
import { columnAt, columnsById } from '../metadata/schema-fields.ts';
import type { IcebergSchema, PartitionField, TableMetadata } from '../metadata/table-metadata.ts';
import { mainBranch } from '../snapshot-state-of.ts';
import { withDefaults } from './default-value.ts';
import { refusedDefinition } from './definition-errors.ts';
import { type IdCounter, idsReusing, structWithIds } from './field-ids.ts';
import { findSource } from './find-source.ts';
import { currentSpec, fieldIdFor, partitionFieldName } from './partition-changes.ts';
import { commentKey, createdProperties, formatVersionKey, formatVersionOf, upgradeUpdates } from './property-changes.ts';
import { sortOrderUpdates } from './sort-order-updates.ts';

/** Format version of a table when nobody says another. */
const defaultFormatVersion = 2;
/** What tables say of themselves from their creation on, so that it holds when the default becomes another. */
const storedDefaults: Readonly<Record<string, string>> = { 'write.parquet.compression-codec': 'zstd' };
const firstFieldId = 1000;

type Definition = Pick<CreateRequest, 'definition' | 'comment' | 'clusterBy' | 'location' | 'zone'>;

/**
 * Updates that make a table out of nothing (https://iceberg.apache.org/spec/#table-metadata).
 *
 * @throws AnalysisException for a definition the format does not have.
 */
export function creatingUpdates(request: Definition, uuid: string): readonly MetadataUpdate[] {
  const { definition } = request;
  checkRequest(request);
  const version = definition.properties[formatVersionKey];
  const formatVersion = version === undefined ? defaultFormatVersion : formatVersionOf(version);
  const ids = idsOf(definition.columnIds ?? []);
  const schema = schemaOf(definition, { schemaId: 0, formatVersion, ids, zone: request.zone });
  const taken = { fieldId: firstFieldId };
  const fields = partitionFieldsOf(definition, schema, () => ({ fieldId: taken.fieldId++, name: undefined }));
  return [
    { action: 'assign-uuid', uuid },
    { action: 'upgrade-format-version', formatVersion },
    { action: 'add-schema', schema, lastColumnId: ids.last },
    { action: 'set-current-schema', schemaId: -1 },
    { action: 'add-spec', spec: { specId: 0, fields } },
    { action: 'set-default-spec', specId: -1 },
    ...sortOrderUpdates(schema, definition.sortOrder ?? []),
    { action: 'set-location', location: request.location.replace(/(?<=.)\/+$/, '') },
    { action: 'set-properties', updates: { ...storedDefaults, ...propertiesOf(request, schema) } },
  ];
}

/**
 * Updates that give a table another definition and no rows: identity, history and properties stay, columns and partition fields that it
 * has had keep their ids, the main branch is taken away.
 *
 * @throws as `creatingUpdates`.
 */
export function replacingUpdates(base: TableMetadata, request: Definition): readonly MetadataUpdate[] {
  const { definition } = request;
  checkRequest(request);
  const version = definition.properties[formatVersionKey];
  const formatVersion = version === undefined ? base.formatVersion : formatVersionOf(version);
  const current = base.schemas.find(({ schemaId }) => schemaId === base.currentSchemaId);
  const known = new Map([...(current === undefined ? [] : columnsById(current).values())].map(({ id, path }) => [path.join('\0'), id]));
  const ids = idsReusing(base.lastColumnId, (path) => known.get(path.join('\0')));
  const schema = schemaOf(definition, { schemaId: base.schemas.length, formatVersion, ids, zone: request.zone });
  const fields = replacedFields(base, partitionFieldsOf(definition, schema, fieldIdsIn(base)));
  const properties = propertiesOf(request, schema);
  return [
    ...upgradeUpdates(base.formatVersion, formatVersion),
    { action: 'add-schema', schema, lastColumnId: ids.last },
    { action: 'set-current-schema', schemaId: -1 },
    { action: 'add-spec', spec: { specId: base.partitionSpecs.length, fields } },
    { action: 'set-default-spec', specId: -1 },
    ...sortOrderUpdates(schema, definition.sortOrder ?? []),
    ...(Object.keys(properties).length === 0 ? [] : [{ action: 'set-properties', updates: properties } as const]),
    ...(base.refs.has(mainBranch) ? [{ action: 'remove-snapshot-ref', refName: mainBranch } as const] : []),
  ];
}

function checkRequest({ clusterBy }: Definition): void {
  if (clusterBy !== undefined && clusterBy.length > 0) {
    throw unsupported('CLUSTER BY of Iceberg tables', 'use PARTITIONED BY, or ALTER TABLE … WRITE ORDERED BY');
  }
}

function propertiesOf({ definition, comment }: Definition, schema: IcebergSchema): Readonly<Record<string, string>> {
  return { ...createdProperties(definition.properties, schema), ...(comment === undefined ? {} : { [commentKey]: comment }) };
}

function schemaOf(
  { schema, identifierColumns }: TableDefinition,
  options: { readonly schemaId: number; readonly formatVersion: number; readonly ids: IdCounter; readonly zone: TimeZone | undefined },
): IcebergSchema {
  const { schemaId, formatVersion, ids, zone } = options;
  refuseDuplicates(schema);
  const defined: StructType = {
    kind: 'struct',
    fields: schema.fields.map((field) => withDefaults(withoutForeignMetadata(field), { formatVersion, zone, forOldRows: false })),
  };
  const numbered: IcebergSchema = { schemaId, struct: structWithIds(defined, ids), identifierFieldIds: [] };
  return { ...numbered, identifierFieldIds: (identifierColumns ?? []).map((name) => findSource(numbered, name.split('.')).id) };
}

/** Ids of a table before it, for the columns that it had; others count on. */
function idsOf(given: ColumnIds): IdCounter {
  const known = new Map(given.map(([path, id]) => [path.join('\0'), id]));
  return idsReusing(Math.max(0, ...known.values()), (path) => known.get(path.join('\0')));
}

/** Names are found ignoring case: two that differ by it alone could not be told apart. @throws AnalysisException `COLUMN_ALREADY_EXISTS`. */
function refuseDuplicates(type: DataType): void {
  const twice = duplicatePath(type)?.at(-1);
  if (twice !== undefined) throw columnExists(twice.toLowerCase());
}

/** What columns of other tables remember, ids above all, is not this table's. */
function withoutForeignMetadata({ name, type, nullable, metadata }: Field): Field {
  const kept = Object.entries(metadata ?? {}).filter(([key]) => key === 'comment' || key === 'CURRENT_DEFAULT');
  return { name, type, nullable, ...(kept.length === 0 ? {} : { metadata: Object.fromEntries(kept) }) };
}

interface WantedField {
  readonly sourceId: number;
  readonly transform: Transform;
  readonly name: string | undefined;
}

type FieldIds = (wanted: WantedField) => { readonly fieldId: number; readonly name: string | undefined };

/**
 * The spec of a definition.
 *
 * @throws AnalysisException `ICEBERG_DEFINITION_REFUSED`, `_LEGACY_ERROR_TEMP_3060` of a column that is none, `_LEGACY_ERROR_TEMP_3058` of one twice.
 */
function partitionFieldsOf(definition: TableDefinition, schema: IcebergSchema, idFor: FieldIds): readonly PartitionField[] {
  const wanted: readonly PartitionFieldDefinition[] =
    definition.partitioning ?? definition.partitionColumns.map((column) => ({ source: [column], transform: { kind: 'identity' } }));
  const names = new Map<string, string>();
  const fields: PartitionField[] = [];
  for (const { source, transform, name } of wanted) {
    const column = columnAt(schema, source);
    if (column === undefined) throw noPartitionColumn(source.join('.'), schema.struct);
    const kind = `${column.id} ${isPeriod(transform) ? 'period' : printTransform(transform)}`;
    const { fieldId, name: knownName } = idFor({ sourceId: column.id, transform, name });
    const field: PartitionField = {
      sourceId: column.id,
      fieldId,
      name: name ?? knownName ?? partitionFieldName(column.path.join('.'), transform, 'create'),
      transform,
    };
    const rival = names.get(kind);
    if (rival !== undefined && !isPeriod(transform)) throw partitionedTwice(column.path.join('.'));
    if (rival !== undefined) throw refusedDefinition(`Cannot add redundant partition: ${rival} conflicts with ${field.name}`);
    names.set(kind, field.name);
    const namesake = schema.struct.fields.find((candidate) => candidate.name === field.name);
    if (namesake !== undefined && namesake.id !== column.id) {
      throw refusedDefinition(`Cannot create partition from name that exists in schema: ${field.name}`);
    }
    fields.push(field);
  }
  return fields;
}

function isPeriod({ kind }: Transform): boolean {
  return kind === 'year' || kind === 'month' || kind === 'day' || kind === 'hour';
}

/** Fields that the table has had keep their ids; others count on from its last. */
function fieldIdsIn(base: TableMetadata): FieldIds {
  let last = base.lastPartitionId;
  return (wanted) => {
    const found = fieldIdFor(base, wanted);
    if (found.fieldId <= base.lastPartitionId) return found;
    last += 1;
    return { ...found, fieldId: last };
  };
}

/** Format version 1 knows partition values by their place: fields of the old spec keep theirs, those that go become void. */
function replacedFields(base: TableMetadata, fields: readonly PartitionField[]): readonly PartitionField[] {
  if (base.formatVersion > 1) return fields;
  const isSame = (left: PartitionField, right: PartitionField): boolean =>
    left.sourceId === right.sourceId && printTransform(left.transform) === printTransform(right.transform);
  const before = currentSpec(base).fields;
  const kept = before.map((field): PartitionField => {
    const same = fields.find((candidate) => isSame(candidate, field));
    return same === undefined
      ? { ...field, name: `${field.name}_${field.fieldId}`, transform: { kind: 'void' } }
      : { ...same, fieldId: field.fieldId };
  });
  const added = fields.filter((field) => !before.some((candidate) => isSame(candidate, field)));
  return [...kept, ...added.map((field, index) => ({ ...field, fieldId: firstFieldId + kept.length + index }))];
}
