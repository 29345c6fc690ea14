import { AnalysisException } from '../../base/analysis-exception.ts';
import { isServiceError } from '../../base/errors.ts';
import type { DefinitionChange, PartitioningChange, RefChange } from '../../table/definition-changes.ts';
import type { CommitOptions } from '../../table/row-operations.ts';
import type { IcebergView } from '../iceberg-view.ts';
import type { LoadedMetadata } from '../pointer/table-pointer.ts';
import { applyUpdates } from '../spec/apply-updates.ts';
import type { MetadataUpdate } from '../spec/metadata-updates.ts';
import { requirementsFor } from '../spec/requirements.ts';
import { fieldById } from '../spec/schema-fields.ts';
import type { IcebergSchema } from '../spec/table-metadata.ts';
import type { TableContext } from '../table-context.ts';
import { commitSnapshot } from '../transaction/commit-snapshot.ts';
import { commitUpdates } from '../transaction/commit-updates.ts';
import { isAlreadyWritten } from '../transaction/idempotency.ts';
import { columnPropertyUpdates } from './column-properties.ts';
import { unsupportedChange, unsupportedFeature } from './definition-errors.ts';
import { describePartitionField } from './describe-field.ts';
import { changePartitioning, currentSpec } from './partition-changes.ts';
import { commentKey, setPropertyUpdates, unsetPropertyUpdates } from './property-changes.ts';
import { refUpdates } from './ref-changes.ts';
import { type ChangedSchema, changeSchema, type SchemaChange } from './schema-changes.ts';
import { writeOrderUpdates } from './write-order.ts';

/**
 * ALTER TABLE: another metadata file, and no snapshot; rows and files stay. The newest view; `undefined` when nothing changes. Made again on
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
): Promise<IcebergView | undefined> {
  const base = await context.refresh(options.signal);
  if (isAlreadyWritten(base, options)) return undefined;
  if (change.kind === 'create-ref' && refUpdates(base.metadata, change) === undefined)
    return await emptyBranch(context, base, change, options);
  return await commitUpdates(
    context,
    (view) => {
      const updates = updatesFor(context.name, view, change);
      if (updates.length === 0 || !changesAnything(view.loaded, updates)) return undefined;
      return { requirements: requirementsFor(view.metadata, updates), updates };
    },
    options,
  );
}

/** What the change makes of a table. @throws as `alterTable`. */
function updatesFor(table: string, view: IcebergView, change: DefinitionChange): readonly MetadataUpdate[] {
  const { metadata } = view;
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
      throw unsupportedFeature('CHECK constraints of Iceberg tables', 'columns can be NOT NULL when the table is created');
    case 'cluster-by':
      throw unsupportedFeature('CLUSTER BY of Iceberg tables', 'use PARTITIONED BY, or ALTER TABLE … WRITE ORDERED BY');
    case 'upgrade-protocol':
      throw unsupportedFeature('the protocol upgrade of Iceberg tables', "set the table property 'format-version'");
    case 'add-feature':
    case 'drop-feature':
      throw unsupportedFeature(`table feature "${change.feature}" of Iceberg tables`, "set the table property 'format-version'");
    default:
      return definingUpdates(table, view, currentSchema(view), change);
  }
}

function definingUpdates(
  table: string,
  { metadata }: IcebergView,
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
      const changed = changeSchema({ table, metadata, schema }, change);
      return schemaUpdates({ metadata, schema }, changed);
    }
  }
}

/** A schema in place of the current one, and the properties that name its columns. */
function schemaUpdates(
  { metadata, schema }: { readonly metadata: IcebergView['metadata']; readonly schema: IcebergSchema },
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
  base: IcebergView,
  change: Extract<RefChange, { kind: 'create-ref' }>,
  options: CommitOptions,
): Promise<IcebergView> {
  const { name, minSnapshotsToKeep, maxSnapshotAgeMs, maxRefAgeMs } = change;
  const empty = { kind: 'fast-append', added: [], removed: [], validation: {}, summary: {} } as const;
  const view = await commitSnapshot(context, base, empty, { ...options, branch: name });
  if ([minSnapshotsToKeep, maxSnapshotAgeMs, maxRefAgeMs].every((limit) => limit === undefined)) return view;
  const retained = { ...change, mode: 'replace', snapshotId: view.snapshotId } as const;
  return (await alterTable(context, retained, { signal: options.signal })) ?? view;
}

/** A branch is read by the current schema; that is what changes. */
function currentSchema({ metadata, icebergSchema }: IcebergView): IcebergSchema {
  return metadata.schemas.find(({ schemaId }) => schemaId === metadata.currentSchemaId) ?? icebergSchema;
}
