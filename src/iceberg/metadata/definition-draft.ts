import { printJson } from '../../base/bigint-json.ts';
import { printTransform, type Transform } from '../../table/partitioning/transform.ts';
import { checkPartitionSpec, checkSchema, checkSortOrder } from './check-definition.ts';
import { typeToJson } from './schema-json.ts';
import { refusedUpdate } from './spec-errors.ts';
import type { IcebergSchema, PartitionSpec, SortOrder, TableMetadata } from './table-metadata.ts';

export type Definition = Pick<
  TableMetadata,
  | 'schemas'
  | 'currentSchemaId'
  | 'lastColumnId'
  | 'partitionSpecs'
  | 'defaultSpecId'
  | 'lastPartitionId'
  | 'sortOrders'
  | 'defaultSortOrderId'
>;

/** Id that stands for the schema, spec or order which was added last. */
const lastAdded = -1;

/** Schemas, partition specs and sort orders of a table while updates change them. Errors `ICEBERG_UPDATE_REFUSED`. */
export class DefinitionDraft {
  #definition: Definition;
  #formatVersion: number;
  #changed = false;
  #addedSchemaId: number | undefined;
  #addedSpecId: number | undefined;
  #addedOrderId: number | undefined;

  constructor(definition: Definition, formatVersion: number) {
    // Whole metadata is a definition too: its other members must not come back out of here.
    const { schemas, currentSchemaId, lastColumnId, partitionSpecs, defaultSpecId, lastPartitionId, sortOrders, defaultSortOrderId } =
      definition;
    this.#definition = {
      schemas,
      currentSchemaId,
      lastColumnId,
      partitionSpecs,
      defaultSpecId,
      lastPartitionId,
      sortOrders,
      defaultSortOrderId,
    };
    this.#formatVersion = formatVersion;
  }

  get value(): Definition {
    return this.#definition;
  }

  get changed(): boolean {
    return this.#changed;
  }

  setFormatVersion(formatVersion: number): void {
    this.#formatVersion = formatVersion;
  }

  addSchema(schema: IcebergSchema, lastColumnId: number): void {
    const { schemas, lastColumnId: last } = this.#definition;
    if (lastColumnId < last) throw refusedUpdate(`Invalid last column ID: ${lastColumnId} < ${last} (previous last column ID)`);
    checkSchema(schema, this.#formatVersion);
    const equal = schemas.find((known) => sameSchema(known, schema));
    const schemaId = equal?.schemaId ?? nextId(schemas.map((known) => known.schemaId));
    this.#addedSchemaId = schemaId;
    if (equal !== undefined && lastColumnId === last) return;
    this.#change({ lastColumnId, schemas: equal === undefined ? [...schemas, { ...schema, schemaId }] : schemas });
  }

  setCurrentSchema(schemaId: number): void {
    const currentSchemaId = resolved(schemaId, this.#addedSchemaId, 'Cannot set last added schema: no schema has been added');
    if (!this.#definition.schemas.some((schema) => schema.schemaId === currentSchemaId)) {
      throw refusedUpdate(`Cannot set current schema to unknown schema: ${currentSchemaId}`);
    }
    if (currentSchemaId !== this.#definition.currentSchemaId) this.#change({ currentSchemaId });
  }

  addSpec(spec: PartitionSpec): void {
    const { partitionSpecs, lastPartitionId } = this.#definition;
    const equal = partitionSpecs.find((known) => sameSpec(known, spec));
    const specId = equal?.specId ?? nextId(partitionSpecs.map((known) => known.specId));
    this.#addedSpecId = specId;
    if (equal !== undefined) return;
    checkPartitionSpec(spec, this.#currentSchema(), this.#formatVersion);
    this.#change({
      partitionSpecs: [...partitionSpecs, { ...spec, specId }],
      lastPartitionId: spec.fields.reduce((highest, { fieldId }) => Math.max(highest, fieldId), lastPartitionId),
    });
  }

  setDefaultSpec(specId: number): void {
    const defaultSpecId = resolved(specId, this.#addedSpecId, 'Cannot set last added spec: no spec has been added');
    if (!this.#definition.partitionSpecs.some((spec) => spec.specId === defaultSpecId)) {
      throw refusedUpdate(`Cannot set default partition spec to unknown spec: ${defaultSpecId}`);
    }
    if (defaultSpecId !== this.#definition.defaultSpecId) this.#change({ defaultSpecId });
  }

  addSortOrder(order: SortOrder): void {
    const { sortOrders } = this.#definition;
    const unsorted = order.fields.length === 0;
    const equal = sortOrders.find((known) => (unsorted ? known.orderId === 0 : sameOrder(known, order)));
    const orderId = unsorted ? 0 : (equal?.orderId ?? nextId([0, ...sortOrders.map((known) => known.orderId)]));
    this.#addedOrderId = orderId;
    if (equal !== undefined) return;
    checkSortOrder(order, this.#currentSchema());
    this.#change({ sortOrders: [...sortOrders, { ...order, orderId }] });
  }

  setDefaultSortOrder(orderId: number): void {
    const defaultSortOrderId = resolved(orderId, this.#addedOrderId, 'Cannot set last added sort order: no sort order has been added');
    if (!this.#definition.sortOrders.some((order) => order.orderId === defaultSortOrderId)) {
      throw refusedUpdate(`Cannot set default sort order to unknown sort order: ${defaultSortOrderId}`);
    }
    if (defaultSortOrderId !== this.#definition.defaultSortOrderId) this.#change({ defaultSortOrderId });
  }

  removeSpecs(specIds: readonly number[]): void {
    const { partitionSpecs, defaultSpecId } = this.#definition;
    if (specIds.includes(defaultSpecId)) throw refusedUpdate('Cannot remove the default partition spec');
    const kept = partitionSpecs.filter(({ specId }) => !specIds.includes(specId));
    if (kept.length < partitionSpecs.length) this.#change({ partitionSpecs: kept });
  }

  removeSchemas(schemaIds: readonly number[]): void {
    const { schemas, currentSchemaId } = this.#definition;
    if (schemaIds.includes(currentSchemaId)) throw refusedUpdate('Cannot remove the current schema');
    const kept = schemas.filter(({ schemaId }) => !schemaIds.includes(schemaId));
    if (kept.length < schemas.length) this.#change({ schemas: kept });
  }

  #currentSchema(): IcebergSchema {
    const { schemas, currentSchemaId } = this.#definition;
    const schema = schemas.find(({ schemaId }) => schemaId === currentSchemaId) ?? schemas.at(-1);
    if (schema === undefined) throw refusedUpdate('Attempting to partition or order a table before a schema is added');
    return schema;
  }

  #change(part: Partial<Definition>): void {
    this.#definition = { ...this.#definition, ...part };
    this.#changed = true;
  }
}

/** Whether two schemas are the same but for their ids. */
export function sameSchema(left: IcebergSchema, right: IcebergSchema): boolean {
  const leftIds = new Set(left.identifierFieldIds);
  const rightIds = new Set(right.identifierFieldIds);
  if (leftIds.size !== rightIds.size || [...leftIds].some((id) => !rightIds.has(id))) return false;
  return printJson(typeToJson(left.struct)) === printJson(typeToJson(right.struct));
}

/** Whether two specs divide rows the same way and call the parts the same; ids of fields do not matter. */
export function sameSpec(left: PartitionSpec, right: PartitionSpec): boolean {
  return sameFields(left.fields, right.fields, (field, other) => field.name === other.name);
}

/** Whether two orders are the same but for their ids. */
export function sameOrder(left: SortOrder, right: SortOrder): boolean {
  return sameFields(
    left.fields,
    right.fields,
    (field, other) => field.direction === other.direction && field.nullOrder === other.nullOrder,
  );
}

function sameFields<T extends { readonly sourceId: number; readonly transform: Transform }>(
  left: readonly T[],
  right: readonly T[],
  alike: (field: T, other: T) => boolean,
): boolean {
  const same = (field: T, other: T | undefined): boolean =>
    field.sourceId === other?.sourceId && alike(field, other) && printTransform(field.transform) === printTransform(other.transform);
  return left.length === right.length && left.every((field, index) => same(field, right[index]));
}

function resolved(id: number, added: number | undefined, complaint: string): number {
  if (id !== lastAdded) return id;
  if (added === undefined) throw refusedUpdate(complaint);
  return added;
}

function nextId(ids: readonly number[]): number {
  return ids.reduce((highest, id) => Math.max(highest, id), -1) + 1;
}
