import type { DefinitionChange } from '../../table/definition-changes.ts';
import { type PartitionFieldDefinition, printTransform, type Transform } from '../../table/partitioning/transform.ts';
import { columnAt, type SchemaColumn } from '../metadata/schema-fields.ts';
import type { IcebergSchema, PartitionField, PartitionSpec, TableMetadata } from '../metadata/table-metadata.ts';
import { refusedDefinition } from './definition-errors.ts';
import { describePartitionField } from './describe-field.ts';
import { findSource } from './find-source.ts';

type PartitionChange = Extract<
  DefinitionChange,
  { readonly kind: 'add-partition-field' | 'drop-partition-field' | 'replace-partition-field' }
>;
type NamedField = PartitionFieldDefinition | { readonly name: string };

/** How a field that is added is called when nobody says so. */
export type NamingRule = 'create' | 'alter';

/**
 * The fields of a table's default spec after a change (https://iceberg.apache.org/spec/#partition-evolution), for rows to come. A field that
 * some spec of the table has had keeps its id; in format version 1 a dropped field stays as `void`.
 *
 * @throws AnalysisException `ICEBERG_DEFINITION_REFUSED` in the words of other implementations; `FIELD_NOT_FOUND` for a source column.
 */
export function changePartitioning(metadata: TableMetadata, schema: IcebergSchema, change: PartitionChange): readonly PartitionField[] {
  const { fields } = currentSpec(metadata);
  switch (change.kind) {
    case 'add-partition-field':
      return withField(metadata, schema, fields, change.field);
    case 'drop-partition-field':
      return withoutField(metadata, fields, fieldToDrop(schema, fields, change.field));
    default: {
      const dropped = fieldToDrop(schema, fields, change.field);
      const source = findSource(schema, change.by.source);
      if (isSame(dropped, source, change.by.transform)) {
        return fields.map((field) => (field === dropped ? { ...field, name: change.by.name ?? field.name } : field));
      }
      return withField(metadata, schema, withoutField(metadata, fields, dropped), change.by);
    }
  }
}

/** The spec that rows are written by. */
export function currentSpec({ partitionSpecs, defaultSpecId }: TableMetadata): PartitionSpec {
  return partitionSpecs.find(({ specId }) => specId === defaultSpecId) ?? { specId: defaultSpecId, fields: [] };
}

/** `id` of a column by itself, `id_bucket_16`, `ts_day`; at the creation of a table `id_bucket`. */
export function partitionFieldName(column: string, transform: Transform, rule: NamingRule): string {
  switch (transform.kind) {
    case 'identity':
      return column;
    case 'bucket':
      return rule === 'create' ? `${column}_bucket` : `${column}_bucket_${transform.count}`;
    case 'truncate':
      return rule === 'create' ? `${column}_trunc` : `${column}_trunc_${transform.width}`;
    case 'void':
      return `${column}_null`;
    case 'unknown':
      return `${column}_${transform.text}`;
    default:
      return `${column}_${transform.kind}`;
  }
}

/** The id of a field: that of an equal one which the table has had, else the next. Of a name only where one is given. */
export function fieldIdFor(
  metadata: TableMetadata,
  wanted: { readonly sourceId: number; readonly transform: Transform; readonly name: string | undefined },
): { readonly fieldId: number; readonly name: string | undefined } {
  if (metadata.formatVersion > 1) {
    const text = printTransform(wanted.transform);
    for (const field of metadata.partitionSpecs.flatMap(({ fields }) => fields)) {
      if (field.sourceId !== wanted.sourceId || printTransform(field.transform) !== text) continue;
      if (wanted.name === undefined || field.name === wanted.name) return { fieldId: field.fieldId, name: field.name };
    }
  }
  return { fieldId: metadata.lastPartitionId + 1, name: wanted.name };
}

function withField(
  metadata: TableMetadata,
  schema: IcebergSchema,
  fields: readonly PartitionField[],
  definition: PartitionFieldDefinition,
): readonly PartitionField[] {
  const { transform } = definition;
  const source = findSource(schema, definition.source);
  const equal = fields.find((field) => isSame(field, source, transform));
  if (equal !== undefined) {
    throw refusedDefinition(
      `Cannot add duplicate partition field ${definition.name ?? 'null'}=${term(source, transform)}, conflicts with ${describePartitionField(equal)}`,
    );
  }
  const known = fieldIdFor(metadata, { sourceId: source.id, transform, name: definition.name });
  const name = known.name ?? partitionFieldName(source.path.join('.'), transform, 'alter');
  const namesake = columnAt(schema, [name]);
  if (namesake !== undefined && namesake.path[0] === name && namesake.id !== source.id) {
    throw refusedDefinition(`Cannot create partition from name that exists in schema: ${name}`, 'name the field: … AS name');
  }
  const added: PartitionField = { sourceId: source.id, fieldId: known.fieldId, name, transform };
  return [...fields.map((field) => withFreeName(field, name)), added];
}

/** A void field, which is left of a dropped one, gives its name away. */
function withFreeName(field: PartitionField, name: string): PartitionField {
  if (field.name !== name) return field;
  if (field.transform.kind === 'void') return { ...field, name: `${name}_${field.fieldId}` };
  throw refusedDefinition(`Cannot add duplicate partition field name: ${name}`, 'name the field: … AS name');
}

/** Format version 1 knows partition values by their place: the place stays. */
function withoutField(
  { formatVersion }: TableMetadata,
  fields: readonly PartitionField[],
  dropped: PartitionField,
): readonly PartitionField[] {
  if (formatVersion > 1) return fields.filter((field) => field !== dropped);
  return fields.map((field) => (field === dropped ? { ...field, transform: { kind: 'void' } } : field));
}

/** By the field's own name, or by what it is made of: a plain column name is either. */
function fieldToDrop(schema: IcebergSchema, fields: readonly PartitionField[], wanted: NamedField): PartitionField {
  const live = fields.filter(({ transform }) => transform.kind !== 'void');
  if (!('transform' in wanted)) {
    const { name } = wanted;
    const column = columnAt(schema, name.split('.'));
    const found =
      live.find((field) => field.name === name) ?? (column && live.find((field) => isSame(field, column, { kind: 'identity' })));
    if (found !== undefined) return found;
    throw refusedDefinition(`Cannot find partition field to remove: ${name}`, namesOf(live));
  }
  const { source, transform } = wanted;
  const column = columnAt(schema, source);
  const found = column && live.find((field) => isSame(field, column, transform));
  if (found !== undefined) return found;
  const named = transform.kind === 'identity' ? live.find((field) => field.name === source.join('.')) : undefined;
  if (named !== undefined) return named;
  throw refusedDefinition(
    `Cannot find partition field to remove: ${termText(column?.path.join('.') ?? source.join('.'), transform)}`,
    namesOf(live),
  );
}

function isSame(field: PartitionField, source: SchemaColumn, transform: Transform): boolean {
  return field.sourceId === source.id && printTransform(field.transform) === printTransform(transform);
}

function namesOf(fields: readonly PartitionField[]): string {
  return fields.length === 0 ? 'the table is not partitioned' : `its partition fields are ${fields.map(({ name }) => name).join(', ')}`;
}

function term(source: SchemaColumn, transform: Transform): string {
  return termText(source.path.join('.'), transform);
}

function termText(column: string, transform: Transform): string {
  const reference = `ref(name="${column}")`;
  return transform.kind === 'identity' ? reference : `${printTransform(transform)}(${reference})`;
}
