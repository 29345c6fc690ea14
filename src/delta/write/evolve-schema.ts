import { AnalysisException } from '../../base/analysis-exception.ts';
import { sameShape } from '../../rows/values/convert-value.ts';
import { fieldNamed, findColumn } from '../../schema/column-path.ts';
import type { StructType } from '../../schema/types.ts';
import type { WriteRequest } from '../../table/row-operations.ts';
import { nextVersion } from '../../table/version.ts';
import type { Action, MetadataAction } from '../actions.ts';
import { clusteringColumnsOf } from '../clustering.ts';
import { assignMapping } from '../column-mapping/assign-mapping.ts';
import { mappingKeys } from '../column-mapping/physical-schema.ts';
import { widened } from '../definition/change-type.ts';
import { checkSchema } from '../definition/check-schema.ts';
import { checkTypeIsFree } from '../definition/dependent-columns.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import type { OperationContext } from '../operations/operation-context.ts';
import { protocolFor, sameProtocol } from '../protocol-for.ts';
import { printSchemaString } from '../schema-json.ts';
import { type MergedSchema, mergeSchemas, newColumn } from './merge-schemas.ts';
import { definitionMismatch } from './schema-mismatch.ts';
import type { StructRule } from './structs-by-place.ts';

/** The table as a write will leave its definition. */
export interface WriteTarget {
  /** Rows are made and staged for this one; it is the base itself when the definition stays. */
  readonly snapshot: DeltaSnapshot;
  /** The protocol and metadata that change. */
  readonly actions: readonly Action[];
}

/**
 * Decides what a write does to schema and partitioning: nothing, new columns and wider types (`mergeSchema`), or all (`overwriteSchema`).
 *
 * @throws AnalysisException `DELTA_METADATA_MISMATCH` with both schemas, `DELTA_FAILED_TO_MERGE_FIELDS`,
 * `DELTA_OVERWRITE_SCHEMA_WITH_DYNAMIC_PARTITION_OVERWRITE`, what `checkTypeIsFree` and `checkSchema` throw for columns no table can have.
 */
export function evolveSchema(context: OperationContext, base: DeltaSnapshot, request: WriteRequest, byPlace: StructRule): WriteTarget {
  const { mode } = request;
  if (request.overwriteSchema === true && mode.kind === 'overwrite-partitions') throw dynamicOverwrite();
  const overwrites = mode.kind === 'overwrite';
  const replaces = request.overwriteSchema === true && overwrites && mode.replaceWhere === undefined;
  return replaces ? replacedDefinition(context, base, request) : mergedDefinition(context, base, request, { overwrites, byPlace });
}

function replacedDefinition(context: OperationContext, base: DeltaSnapshot, request: WriteRequest): WriteTarget {
  const fields = request.rows.schema.fields.map(newColumn);
  const given: StructType = { kind: 'struct', fields };
  const sameSchema = sameShape(given, base.schema);
  // Without partitionBy the table has no partitions from then on, as everything else of its definition is the rows'.
  const samePartitioning = sameColumns(request.partitionBy ?? [], base.partitionColumns);
  if (sameSchema && samePartitioning) return { snapshot: base, actions: [] };
  const partitionColumns = (request.partitionBy ?? []).map((name) => fieldNamed(given.fields, name)?.name ?? name);
  return changedDefinition(context, base, { schema: sameSchema ? base.schema : given, partitionColumns });
}

function mergedDefinition(
  context: OperationContext,
  base: DeltaSnapshot,
  request: WriteRequest,
  { overwrites, byPlace }: { readonly overwrites: boolean; readonly byPlace: StructRule },
): WriteTarget {
  const data = request.rows.schema;
  const merged = mergeSchemas(base.schema, data, {
    matchBy: request.matchBy ?? 'name',
    rule: request.storeAssignment === true ? 'cast' : 'fit',
    structsByPlace: byPlace,
    widen: request.mergeSchema === true && base.settings.typeWidening && base.protocol.writerFeatures?.some(isTypeWidening) === true,
  });
  const otherPartitioning = request.partitionBy !== undefined && !sameColumns(request.partitionBy, base.partitionColumns);
  const grows = merged.addsColumns || merged.widenings.length > 0;
  if (otherPartitioning || (grows && request.mergeSchema !== true)) {
    throw definitionMismatch({
      tableId: base.tableId,
      schema: grows ? { table: base.schema, data: { kind: 'struct', fields: data.fields.map(newColumn) } } : undefined,
      partitioning: otherPartitioning ? { table: base.partitionColumns, given: request.partitionBy ?? [] } : undefined,
      overwrites,
    });
  }
  if (!grows || request.mergeSchema !== true) return { snapshot: base, actions: [] };
  return changedDefinition(context, base, { schema: withWideTypes(base, merged), partitionColumns: base.partitionColumns });
}

function withWideTypes(base: DeltaSnapshot, merged: MergedSchema): StructType {
  return merged.widenings.reduce((schema, { path, to }) => {
    const found = findColumn(schema, path);
    checkTypeIsFree(base, found.path, found.type, to);
    return widened(schema, found, to);
  }, merged.schema);
}

function changedDefinition(
  context: OperationContext,
  base: DeltaSnapshot,
  definition: { readonly schema: StructType; readonly partitionColumns: readonly string[] },
): WriteTarget {
  const { partitionColumns } = definition;
  checkSchema(definition.schema, {
    partitionColumns,
    mapped: base.mapping !== 'none',
    changeDataFeed: base.settings.changeDataFeed,
  });
  const mapped = withMapping(context, base, definition.schema);
  const metadata: MetadataAction = {
    ...base.metadata,
    schemaString: printSchemaString(mapped.schema),
    partitionColumns,
    configuration: mapped.configuration,
  };
  const protocol = protocolFor({
    schema: mapped.schema,
    configuration: mapped.configuration,
    clustered: clusteringColumnsOf(base.schema, base.domains()).length > 0,
    current: base.protocol,
  });
  const actions: readonly Action[] = sameProtocol(protocol, base.protocol) ? [metadata] : [protocol, metadata];
  const commit = { version: nextVersion(base.version), modifiedMs: base.committedAt, actions };
  return { snapshot: base.apply(commit, context.name), actions };
}

function withMapping(
  context: OperationContext,
  base: DeltaSnapshot,
  schema: StructType,
): { readonly schema: StructType; readonly configuration: Readonly<Record<string, string>> } {
  const { configuration } = base.metadata;
  if (base.mapping === 'none') return { schema, configuration };
  const highest = Number(configuration[mappingKeys.maxColumnId] ?? 0);
  const assigned = assignMapping(schema, { maxColumnId: highest, ids: context.ids, names: 'made' });
  return { schema: assigned.schema, configuration: { ...configuration, [mappingKeys.maxColumnId]: String(assigned.maxColumnId) } };
}

function sameColumns(given: readonly string[], own: readonly string[]): boolean {
  return given.length === own.length && given.every((name, index) => name.toLowerCase() === own[index]?.toLowerCase());
}

function isTypeWidening(feature: string): boolean {
  return feature === 'typeWidening' || feature === 'typeWidening-preview';
}

function dynamicOverwrite(): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_OVERWRITE_SCHEMA_WITH_DYNAMIC_PARTITION_OVERWRITE',
    message: "'overwriteSchema' cannot be used in dynamic partition overwrite mode.",
    hint: 'leave out overwriteSchema, or overwrite the whole table',
  });
}
