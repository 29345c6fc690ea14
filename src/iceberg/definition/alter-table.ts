import { AnalysisException } from '../../base/analysis-exception.ts';
import { isServiceError } from '../../base/errors.ts';
import { unsupported } from '../../base/unsupported-feature.ts';
import type { DefinitionChange, PartitioningChange, RefChange } from '../../table/definition-changes.ts';
import type { CommitOptions } from '../../table/row-operations.ts';
import { applyUpdates } from '../metadata/apply-updates.ts';
import type { MetadataUpdate } from '../metadata/metadata-updates.ts';
import { requirementsFor } from '../metadata/requirements.ts';
import { fieldById } from '../metadata/schema-fields.ts';
import type { IcebergSchema } from '../metadata/table-metadata.ts';
import type { LoadedMetadata } from '../pointer/table-pointer.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import { mainBranch, snapshotStateOf } from '../snapshot-state-of.ts';
import type { TableContext } from '../table-context.ts';
import { commitSnapshot } from '../transaction/commit-snapshot.ts';
import { commitUpdates } from '../transaction/commit-updates.ts';
import { isAlreadyWritten } from '../transaction/idempotency.ts';
import { columnPropertyUpdates } from './column-properties.ts';
import { unsupportedChange } from './definition-errors.ts';
import { describePartitionField } from './describe-field.ts';
import { changePartitioning, currentSpec } from './partition-changes.ts';
import { commentKey, setPropertyUpdates, unsetPropertyUpdates } from './property-changes.ts';
import { refUpdates } from './ref-changes.ts';
import { type ChangedSchema, changeSchema, type SchemaChange } from './schema-changes.ts';
import { sortOrderUpdates } from './sort-order-updates.ts';

/**
 * ALTER TABLE: another metadata file, and no snapshot; rows and files stay. The newest state; `undefined` when nothing changes. Made again on
 * newer metadata when somebody else was first.
 *
 * @throws AnalysisException what `changeSchema`, `changePartitioning`, `refUpdates`, `setPropertyUpdates` and `writeOrderUpdates` throw;
 * `VALIDATION_FAILED` for what the metadata as a whole does not allow, such as a dropped column that rows are partitioned by;
 * `UNSUPPORTED_FEATURE` (0A000) for what the format does not have; the errors of `commitUpdates`.
 */
export async function alterTable(
  context: TableContext,
  change: DefinitionChange,
  options: CommitOptions = {},
): Promise<SnapshotState | undefined> {
  const base = await context.refresh(options.signal);
  if (isAlreadyWritten(base, options)) return undefined;
  if (change.kind === 'create-ref' && refUpdates(base.metadata, change) === undefined)
    return await emptyBranch(context, base, change, options);
  return await commitUpdates(
    context,
    (state) => {
      const updates = updatesFor(context, state, change);
      if (updates.length === 0 || !changesAnything(state.loaded, updates)) return undefined;
      return { requirements: requirementsFor(state.metadata, updates), updates };
    },
    options,
  );
}

/** The state with the change, of the same snapshot; `base` itself when nothing changes. @throws as `alterTable`, but for the commit. */
export function previewChange(context: TableContext, base: SnapshotState, change: DefinitionChange): SnapshotState {
  const updates = updatesFor(context, base, change);
  if (updates.length === 0 || !changesAnything(base.loaded, updates)) return base;
  const { metadata, metadataLocation } = base.loaded;
  const changed = applyUpdates(metadata, updates, { nowMs: metadata.lastUpdatedMs, baseLocation: metadataLocation });
  return snapshotStateOf(
    { metadata: changed, metadataLocation },
    { branch: changed.refs.has(context.branch) ? context.branch : mainBranch },
  );
}

/** What the change makes of a table. @throws as `alterTable`. */
function updatesFor(
  context: Pick<TableContext, 'name' | 'zone'>,
  state: SnapshotState,
  change: DefinitionChange,
): readonly MetadataUpdate[] {
  const { metadata } = state;
  switch (change.kind) {
    case 'set-properties':
      return setPropertyUpdates(metadata, change.properties);
    case 'unset-properties':
      return unsetPropertyUpdates(metadata, change.keys);
    case 'comment':
      return change.comment === undefined
        ? unsetPropertyUpdates(metadata, [commentKey])
        : setPropertyUpdates(metadata, { [commentKey]: change.comment });
    case 'set-location':
      return change.location === metadata.location ? [] : [{ action: 'set-location', location: change.location }];
    case 'create-ref':
    case 'drop-ref':
      return refUpdates(metadata, change) ?? [];
    case 'add-constraint':
    case 'drop-constraint':
      throw unsupported('CHECK constraints of Iceberg tables', 'columns can be NOT NULL when the table is created');
    case 'cluster-by':
      throw unsupported('CLUSTER BY of Iceberg tables', 'use PARTITIONED BY, or ALTER TABLE … WRITE ORDERED BY');
    case 'sync-identity':
      throw unsupported('SYNC IDENTITY of Iceberg tables', 'their columns number no rows');
    case 'upgrade-protocol':
      throw unsupported('the protocol upgrade of Iceberg tables', "set the table property 'format-version'");
    case 'add-feature':
    case 'drop-feature':
      throw unsupported(`table feature "${change.feature}" of Iceberg tables`, "set the table property 'format-version'");
    default:
      return definingUpdates(context, state, currentSchema(state), change);
  }
}

function definingUpdates(
  { name: table, zone }: Pick<TableContext, 'name' | 'zone'>,
  { metadata }: SnapshotState,
  schema: IcebergSchema,
  change: SchemaChange | PartitioningChange,
): readonly MetadataUpdate[] {
  switch (change.kind) {
    case 'add-partition-field':
    case 'drop-partition-field':
    case 'replace-partition-field': {
      const spec = { specId: currentSpec(metadata).specId + 1, fields: changePartitioning(metadata, schema, change) };
      return [
        { action: 'add-spec', spec },
        { action: 'set-default-spec', specId: -1 },
      ];
    }
    case 'write-order':
      return writeOrderUpdates(schema, change);
    default: {
      const changed = changeSchema({ table, metadata, schema, zone }, change);
      return schemaUpdates({ metadata, schema }, changed);
    }
  }
}

/** A schema in place of the current one, and the properties that name its columns. */
function schemaUpdates(
  { metadata, schema }: { readonly metadata: SnapshotState['metadata']; readonly schema: IcebergSchema },
  { struct, identifierFieldIds, lastColumnId }: ChangedSchema,
): readonly MetadataUpdate[] {
  if (struct === schema.struct && identifierFieldIds === schema.identifierFieldIds) return [];
  const after: IcebergSchema = { ...schema, schemaId: -1, struct, identifierFieldIds };
  const spec = currentSpec(metadata);
  checkSources(schema, after, spec.fields);
  return [
    { action: 'add-schema', schema: { ...after, schemaId: metadata.schemas.length }, lastColumnId },
    { action: 'set-current-schema', schemaId: -1 },
    ...columnPropertyUpdates(metadata, schema, after),
  ];
}

/** Columns that rows are partitioned by stay. */
function checkSources(before: IcebergSchema, after: IcebergSchema, fields: ReturnType<typeof currentSpec>['fields']): void {
  for (const field of fields) {
    if (
      field.transform.kind === 'void' ||
      fieldById(before, field.sourceId) === undefined ||
      fieldById(after, field.sourceId) !== undefined
    )
      continue;
    throw invalidTable(`Cannot find source column for partition field: ${describePartitionField(field)}`, 'drop the partition field first');
  }
}

/** What the metadata as a whole does not allow is the user's to hear before anything is tried. */
function changesAnything({ metadata, metadataLocation }: LoadedMetadata, updates: readonly MetadataUpdate[]): boolean {
  try {
    return applyUpdates(metadata, updates, { nowMs: metadata.lastUpdatedMs, baseLocation: metadataLocation }) !== metadata;
  } catch (error) {
    if (!isServiceError(error, 'invalid', 'corrupt')) throw error;
    const definesColumns = updates.some(({ action }) => action === 'add-schema');
    throw definesColumns ? unsupportedChange(error.message) : invalidTable(error.message, undefined, error);
  }
}

function invalidTable(message: string, hint?: string, cause?: unknown): AnalysisException {
  return new AnalysisException({ errorClass: 'VALIDATION_FAILED', alias: 'ValidationException', message, hint, cause });
}

/** A branch of a table without snapshots starts with an empty one. */
async function emptyBranch(
  context: TableContext,
  base: SnapshotState,
  change: Extract<RefChange, { kind: 'create-ref' }>,
  options: CommitOptions,
): Promise<SnapshotState> {
  const { name, minSnapshotsToKeep, maxSnapshotAgeMs, maxRefAgeMs } = change;
  const empty = { kind: 'fast-append', added: [], removed: [], validation: {}, summary: {} } as const;
  const state = await commitSnapshot(context, base, empty, { ...options, branch: name });
  if ([minSnapshotsToKeep, maxSnapshotAgeMs, maxRefAgeMs].every((limit) => limit === undefined)) return state;
  const retained = { ...change, mode: 'replace', snapshotId: state.snapshotId } as const;
  return (await alterTable(context, retained, { signal: options.signal })) ?? state;
}

/** A branch is read by the current schema; that is what changes. */
function currentSchema({ metadata, icebergSchema }: SnapshotState): IcebergSchema {
  return metadata.schemas.find(({ schemaId }) => schemaId === metadata.currentSchemaId) ?? icebergSchema;
}

/** How rows are spread over writers before they are ordered. */
const distributionProperty = 'write.distribution-mode';

/** Updates for WRITE ORDERED BY and its kin; no keys: unordered. For files to come. @throws AnalysisException `FIELD_NOT_FOUND` (42704). */
function writeOrderUpdates(
  schema: IcebergSchema,
  { keys, distribution }: Extract<DefinitionChange, { readonly kind: 'write-order' }>,
): readonly MetadataUpdate[] {
  return [
    ...sortOrderUpdates(schema, keys),
    ...(distribution === undefined ? [] : [{ action: 'set-properties', updates: { [distributionProperty]: distribution } } as const]),
  ];
}
