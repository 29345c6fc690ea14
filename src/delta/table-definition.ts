import { AnalysisException } from '../base/analysis-exception.ts';
import type { IdSource } from '../base/ids.ts';
import type { StructType } from '../schema/types.ts';
import type { TableDefinition } from '../table/table.ts';
import type { DomainMetadataAction, MetadataAction, ProtocolAction } from './actions.ts';
import { type ClusteringColumns, clusteringDomain } from './clustering.ts';
import { assignMapping, withoutMapping } from './column-mapping/assign-mapping.ts';
import { mappingKeys } from './column-mapping/physical-schema.ts';
import { checkConstraints, statedConstraints } from './definition/check-constraints.ts';
import { checkDefault } from './definition/check-default.ts';
import { checkGenerated } from './definition/check-generated.ts';
import { checkSchema } from './definition/check-schema.ts';
import { visitFields } from './feature-catalogue.ts';
import { type DeltaProperties, deltaProperties } from './properties.ts';
import { canonicalProperties, checkRetentions } from './property-catalogue.ts';
import { type ProtocolSettings, protocolFor, supportsFeature, takeProtocolSettings } from './protocol-for.ts';
import { rowTrackingKeys } from './row-tracking-columns.ts';
import { printSchemaString } from './schema-json.ts';

/** What a table that is made is given. */
export interface GivenIdentity {
  readonly tableId: string;
  readonly nowMs: number;
  readonly ids: IdSource;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  /** Column paths the table is clustered by. */
  readonly clusterBy?: ClusteringColumns | undefined;
  /** Unknown properties below `delta.` are taken as they are. */
  readonly arbitraryProperties?: boolean | undefined;
  /** What is there already, when a table is replaced: protocols never lose features, column ids are never given twice. */
  readonly replaced?: { readonly protocol: ProtocolAction; readonly metadata: MetadataAction } | undefined;
}

export interface FirstActions {
  readonly protocol: ProtocolAction;
  readonly metadata: MetadataAction;
  /** Domains the definition needs. */
  readonly domains: readonly DomainMetadataAction[];
}

/**
 * The actions that define a table.
 *
 * @throws AnalysisException what `checkSchema`, `canonicalProperties` and `takeProtocolSettings` throw;
 * `WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED` (0AKDE), `DELTA_CLUSTER_BY_WITH_PARTITIONED_BY` (42613).
 */
export function firstActions(table: string, definition: TableDefinition, given: GivenIdentity): FirstActions {
  const settings = takeProtocolSettings(definition.properties);
  const { constraints, others } = statedConstraints(settings.rest);
  const configuration = { ...canonicalProperties(others, given.arbitraryProperties), ...constraints };
  const properties = deltaProperties(configuration, table);
  checkRetentions(properties);
  const partitionColumns = definition.partitionColumns.map((name) => ownSpelling(definition.schema, name));
  const mapped = (configuration[mappingKeys.mode]?.toLowerCase() ?? 'none') !== 'none';
  checkSchema(definition.schema, { partitionColumns, mapped, changeDataFeed: properties.changeDataFeed });
  checkGenerated(table, definition.schema);
  checkConstraints(table, definition.schema, constraints);
  checkDefaults(definition.schema, settings, given.replaced?.protocol);
  const clustered = given.clusterBy !== undefined && given.clusterBy.length > 0;
  if (clustered && partitionColumns.length > 0) throw clusteredAndPartitioned();
  const shaped = shapedBy(configuration, properties, withoutMapping(definition.schema), mapped, given);
  const protocol = protocolFor({
    schema: shaped.schema,
    configuration: shaped.configuration,
    clustered,
    current: given.replaced?.protocol,
    features: settings.features,
    minReaderVersion: settings.minReaderVersion,
    minWriterVersion: settings.minWriterVersion,
  });
  return {
    protocol,
    metadata: {
      kind: 'metaData',
      id: given.tableId,
      name: given.name,
      description: given.description,
      formatProvider: 'parquet',
      formatOptions: {},
      schemaString: printSchemaString(shaped.schema),
      partitionColumns,
      configuration: shaped.configuration,
      createdTimeMs: given.nowMs,
    },
    domains: clustered ? [clusteringDomain(shaped.schema, given.clusterBy ?? [], mapped)] : [],
  };
}

/** The schema's own spelling of a column name; the name itself when there is no such column. */
function ownSpelling(schema: StructType, name: string): string {
  return schema.fields.find((field) => field.name.toLowerCase() === name.toLowerCase())?.name ?? name;
}

/** Schema and properties with what the features of the table add to them: column ids, names of hidden columns. */
function shapedBy(
  configuration: Readonly<Record<string, string>>,
  properties: DeltaProperties,
  schema: StructType,
  mapped: boolean,
  given: GivenIdentity,
): { readonly schema: StructType; readonly configuration: Readonly<Record<string, string>> } {
  const before = given.replaced?.metadata.configuration ?? {};
  const tracked = {
    ...configuration,
    ...(properties.rowTracking ? rowTrackingColumns(configuration, before, given.ids) : {}),
    ...(properties.inCommitTimestamps ? keptEnablement(before) : {}),
  };
  if (!mapped) return { schema, configuration: tracked };
  const maxColumnId = Number(before[mappingKeys.maxColumnId] ?? 0);
  const assigned = assignMapping(schema, { maxColumnId, ids: given.ids, names: 'made' });
  return { schema: assigned.schema, configuration: { ...tracked, [mappingKeys.maxColumnId]: String(assigned.maxColumnId) } };
}

/** Since when a replaced table has in-commit times: older versions go on without. */
function keptEnablement(before: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  if (before['delta.enableInCommitTimestamps']?.toLowerCase() !== 'true') return {};
  return Object.fromEntries(Object.entries(before).filter(([key]) => key.startsWith('delta.inCommitTimestampEnablement')));
}

/** Names of the columns that keep row ids and row commit versions when rows move between files; once given, they stay. */
export function rowTrackingColumns(
  configuration: Readonly<Record<string, string>>,
  before: Readonly<Record<string, string>>,
  ids: IdSource,
): Readonly<Record<string, string>> {
  return {
    [rowTrackingKeys.rowId]: configuration[rowTrackingKeys.rowId] ?? before[rowTrackingKeys.rowId] ?? `_row-id-col-${ids.uuid()}`,
    [rowTrackingKeys.commitVersion]:
      configuration[rowTrackingKeys.commitVersion] ?? before[rowTrackingKeys.commitVersion] ?? `_row-commit-version-col-${ids.uuid()}`,
  };
}

/** Defaults of columns need their feature to be asked for by name, as in Spark. */
function checkDefaults(schema: StructType, settings: ProtocolSettings, current: ProtocolAction | undefined): void {
  const enabled =
    settings.features.includes('allowColumnDefaults') || (current !== undefined && supportsFeature(current, 'allowColumnDefaults'));
  visitFields(schema, (field) => {
    const text = field.metadata?.['CURRENT_DEFAULT'];
    if (text === undefined) return;
    if (!enabled) throw defaultsNotEnabled('CREATE TABLE');
    if (typeof text === 'string') checkDefault(text, { column: field, command: 'CREATE TABLE' });
  });
}

/** A column default was asked for and the table has no feature for it. */
export function defaultsNotEnabled(command: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED',
    message:
      `Failed to execute ${command} command because it assigned a column DEFAULT value, but the corresponding table feature was not ` +
      "enabled. Please retry the command again after executing ALTER TABLE tableName SET TBLPROPERTIES('delta.feature.allowColumnDefaults' = " +
      "'supported').",
    parameters: { commandType: command },
    hint: "set 'delta.feature.allowColumnDefaults' = 'supported'",
  });
}

function clusteredAndPartitioned(): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_CLUSTER_BY_WITH_PARTITIONED_BY',
    alias: 'SPECIFY_CLUSTER_BY_WITH_PARTITIONED_BY_IS_NOT_ALLOWED',
    message: 'Clustering and partitioning cannot both be specified. Please remove PARTITIONED BY or CLUSTER BY.',
    hint: 'choose one of the two',
  });
}
