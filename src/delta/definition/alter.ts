import { AnalysisException } from '../../base/analysis-exception.ts';
import type { DefinitionChange } from '../../table/definition-changes.ts';
import type { CommitOptions } from '../../table/row-operations.ts';
import { nextVersion, type Version } from '../../table/version.ts';
import type { Action, MetadataAction, ProtocolAction } from '../actions.ts';
import { type ClusteringColumns, clusteringColumnsOf, clusteringDomain } from '../clustering.ts';
import { assignMapping } from '../column-mapping/assign-mapping.ts';
import { mappingKeys } from '../column-mapping/physical-schema.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import type { OperationContext } from '../operations/operation-context.ts';
import { protocolFor, sameProtocol } from '../protocol-for.ts';
import { printSchemaString } from '../schema-json.ts';
import { checkRowsWritable } from '../table-features.ts';
import { commitTransaction } from '../transaction/commit-transaction.ts';
import { isAlreadyWritten } from '../transaction/idempotency.ts';
import { addColumns, changeComment, changeDefault, changeNullability, dropColumns, moveColumn, renameColumn } from './change-columns.ts';
import { addConstraint, dropConstraint } from './change-constraints.ts';
import { setProperties, unsetProperties } from './change-properties.ts';
import { addFeature, dropFeature, isClustered, upgradeProtocol } from './change-protocol.ts';
import { changeType } from './change-type.ts';
import { checkSchema } from './check-schema.ts';
import type { PlannedChange } from './planned-change.ts';
import { syncIdentity } from './sync-identity.ts';

/**
 * ALTER TABLE: one version, or none when nothing changes. Rows and files stay; the protocol grows in the same commit where the change needs it.
 *
 * @throws AnalysisException what the change's own function throws (`definition/change-*.ts`), what `checkSchema` throws,
 * `DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT`; the errors of `commitTransaction`.
 */
export async function alter(
  context: OperationContext,
  change: DefinitionChange,
  options: CommitOptions = {},
): Promise<Version | undefined> {
  const { signal } = options;
  const base = await context.refresh(signal);
  checkRowsWritable(base.protocol, base.metadata, context.name);
  if (isAlreadyWritten(base, options)) return undefined;
  const planned = await planChange(context, base, change, signal);
  if (planned === undefined) return undefined;
  const { operation, operationParameters } = planned;
  return commitTransaction(context, {
    ...options,
    base,
    operation,
    operationParameters,
    operationMetrics: {},
    actions: actionsOf(context, base, planned),
    reads: planned.reads ?? {},
  });
}

/** The version that the change would make after `base`; `base` itself when nothing changes. @throws as `alter`, but for the commit. */
export async function previewChange(
  context: OperationContext,
  base: DeltaSnapshot,
  change: DefinitionChange,
  signal?: AbortSignal,
): Promise<DeltaSnapshot> {
  checkRowsWritable(base.protocol, base.metadata, context.name);
  const planned = await planChange(context, base, change, signal);
  if (planned === undefined) return base;
  const commit = { version: nextVersion(base.version), actions: actionsOf(context, base, planned), modifiedMs: base.committedAt };
  return base.apply(commit, context.name);
}

/** What the change makes of the table at `base`. */
async function planChange(
  context: OperationContext,
  base: DeltaSnapshot,
  change: DefinitionChange,
  signal: AbortSignal | undefined,
): Promise<PlannedChange | undefined> {
  switch (change.kind) {
    case 'add-columns':
      return addColumns(base, change);
    case 'rename-column':
      return renameColumn(base, change);
    case 'drop-columns':
      return dropColumns(base, change);
    case 'change-type':
      return changeType(base, change, context.name);
    case 'change-nullability':
      return changeNullability(base, change);
    case 'change-comment':
      return changeComment(base, change);
    case 'move-column':
      return moveColumn(base, change);
    case 'sync-identity':
      return syncIdentity(context, base, change, signal);
    case 'change-default':
      return changeDefault(base, change);
    case 'set-properties':
      return setProperties(base, change.properties, context);
    case 'unset-properties':
      return unsetProperties(base, change, context);
    case 'add-constraint':
      return addConstraint(context, base, change, signal);
    case 'drop-constraint':
      return dropConstraint(context, base, change);
    case 'cluster-by':
      return clusterBy(base, change.columns);
    case 'comment':
      return commentOn(base, change.comment, context);
    case 'upgrade-protocol':
      return upgradeProtocol(base, change);
    case 'add-feature':
      return addFeature(base, change.feature);
    case 'drop-feature':
      return dropFeature(base, change.feature);
    default:
      throw new AnalysisException({
        errorClass: 'UNSUPPORTED_FEATURE.TABLE_OPERATION',
        message:
          `The feature is not supported: Table ${context.name} does not support ${change.kind}. Please check the current catalog and ` +
          'namespace to make sure the qualified table name is expected.',
        parameters: { tableName: context.name, operation: change.kind },
        hint: 'Delta tables have partition columns, which are fixed when the table is created, and no branches or tags',
      });
  }
}

/** COMMENT ON TABLE: to the history it is a property, as in Spark. */
function commentOn(base: DeltaSnapshot, comment: string | undefined, context: OperationContext): PlannedChange | undefined {
  if (base.metadata.description === comment) return undefined;
  return comment === undefined ? unsetProperties(base, { keys: ['comment'] }, context) : setProperties(base, { comment }, context);
}

/** CLUSTER BY; no columns: CLUSTER BY NONE. For files to come. */
function clusterBy(base: DeltaSnapshot, columns: ClusteringColumns): PlannedChange | undefined {
  if (base.partitionColumns.length > 0) {
    throw new AnalysisException({
      errorClass: 'DELTA_ALTER_TABLE_CLUSTER_BY_ON_PARTITIONED_TABLE_NOT_ALLOWED',
      message: 'ALTER TABLE CLUSTER BY is not supported for partitioned tables.',
      hint: 'create a table without partitions',
    });
  }
  const before = clusteringColumnsOf(base.schema, base.domains());
  const domain = clusteringDomain(base.schema, columns, base.mapping !== 'none');
  const [old, wanted] = [before, clusteringColumnsOf(base.schema, [domain])].map((paths) => paths.map((path) => path.join('.')).join(','));
  if (old === wanted) return undefined;
  return {
    operation: 'CLUSTER BY',
    operationParameters: { oldClusteringColumns: old, newClusteringColumns: wanted },
    actions: [domain],
    clustered: columns.length > 0,
    features: ['clustering'],
  };
}

function actionsOf(context: OperationContext, base: DeltaSnapshot, planned: PlannedChange): readonly Action[] {
  const metadata = metadataOf(context, base, planned);
  const protocol = protocolOf(base, planned, metadata);
  return [...(metadata === undefined ? [] : [metadata.action]), ...(protocol === undefined ? [] : [protocol]), ...(planned.actions ?? [])];
}

interface ChangedMetadata {
  readonly action: MetadataAction;
  readonly schema: DeltaSnapshot['schema'];
}

/** `undefined` when the metadata stays as it is. Everything the change does not name is copied, unknown keys too. */
function metadataOf(context: OperationContext, base: DeltaSnapshot, planned: PlannedChange): ChangedMetadata | undefined {
  const changes = planned.schema ?? planned.configuration ?? planned.description ?? planned.partitionColumns;
  if (changes === undefined && planned.alwaysMetadata !== true) return undefined;
  const configuration = planned.configuration ?? base.properties;
  const partitionColumns = planned.partitionColumns ?? base.partitionColumns;
  const shaped = shapedSchema(context, base, planned, configuration);
  if (planned.schema !== undefined) {
    const mapped = (shaped.configuration[mappingKeys.mode]?.toLowerCase() ?? 'none') !== 'none';
    checkSchema(shaped.schema, { partitionColumns, mapped, changeDataFeed: base.settings.changeDataFeed });
  }
  const action: MetadataAction = {
    ...base.metadata,
    schemaString: planned.schema === undefined ? base.metadata.schemaString : printSchemaString(shaped.schema),
    partitionColumns,
    configuration: shaped.configuration,
    description: planned.description === undefined ? base.metadata.description : planned.description.text,
  };
  return { action, schema: shaped.schema };
}

/** Columns that are added to a mapped table get ids and names of their own. */
function shapedSchema(
  context: OperationContext,
  base: DeltaSnapshot,
  planned: PlannedChange,
  configuration: Readonly<Record<string, string>>,
): { readonly schema: DeltaSnapshot['schema']; readonly configuration: Readonly<Record<string, string>> } {
  const schema = planned.schema ?? base.schema;
  if (base.mapping === 'none' || planned.schema === undefined) return { schema, configuration };
  const maxColumnId = Number(configuration[mappingKeys.maxColumnId] ?? 0);
  const assigned = assignMapping(schema, { maxColumnId, ids: context.ids, names: 'made' });
  if (assigned.maxColumnId === maxColumnId) return { schema: assigned.schema, configuration };
  return { schema: assigned.schema, configuration: { ...configuration, [mappingKeys.maxColumnId]: String(assigned.maxColumnId) } };
}

/** `undefined` when the protocol covers the change already. */
function protocolOf(base: DeltaSnapshot, planned: PlannedChange, metadata: ChangedMetadata | undefined): ProtocolAction | undefined {
  if (planned.protocol !== undefined) return planned.protocol;
  const use = {
    schema: metadata?.schema ?? base.schema,
    configuration: metadata?.action.configuration ?? base.properties,
    clustered: planned.clustered ?? isClustered(base),
  };
  const protocol = protocolFor({
    ...use,
    current: base.protocol,
    features: planned.features,
    minReaderVersion: planned.minReaderVersion,
    minWriterVersion: planned.minWriterVersion,
  });
  return sameProtocol(protocol, base.protocol) ? undefined : protocol;
}
