import { mentionedFields } from '../../rows/merge/mentioned-fields.ts';
import { fieldNamed } from '../../schema/column-path.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';
import type { MergeRequest, WriteRequest } from '../../table/row-operations.ts';
import { columnPropertyUpdates } from '../definition/column-properties.ts';
import { canPromote } from '../definition/promote-type.ts';
import { changeSchema, type SchemaChange } from '../definition/schema-changes.ts';
import { applyUpdates } from '../metadata/apply-updates.ts';
import type { MetadataUpdate } from '../metadata/metadata-updates.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import { snapshotStateOf } from '../snapshot-state-of.ts';
import type { TableContext } from '../table-context.ts';

/** Tables with this property take columns that they lack from rows that are written with `mergeSchema`, as in Spark. */
const acceptAnySchema = 'write.spark.accept-any-schema';

/** What rows are written as: the table's definition, or the one that their commit makes. */
export interface EvolvedState {
  readonly state: SnapshotState;
  readonly updates: readonly MetadataUpdate[];
}

/** The table with the columns that the rows have and it lacks, optional and last; the state as it is when they are not asked for. */
export function evolvedState(context: TableContext, base: SnapshotState, request: WriteRequest): EvolvedState {
  const accepted = request.mergeSchema === true && base.metadata.properties[acceptAnySchema]?.toLowerCase() === 'true';
  return accepted
    ? changedView(context, base, additions(base.schema, request.rows.schema.fields, [], false))
    : { state: base, updates: [] };
}

/**
 * The table with what a MERGE with schema evolution brings of its source: new columns and members, optional and last, and wider types.
 *
 * @throws AnalysisException what changes of columns throw.
 */
export function evolvedForMerge(context: TableContext, base: SnapshotState, request: MergeRequest): EvolvedState {
  const fields = request.schemaEvolution === true ? mentionedFields(request) : [];
  return changedView(context, base, additions(base.schema, fields, [], true));
}

function changedView(context: TableContext, base: SnapshotState, changes: readonly SchemaChange[]): EvolvedState {
  if (changes.length === 0) return { state: base, updates: [] };
  const { metadata, icebergSchema, loaded } = base;
  let { lastColumnId } = metadata;
  let schema = { ...icebergSchema, schemaId: metadata.schemas.length };
  for (const change of changes) {
    const { lastColumnId: last, ...changed } = changeSchema(
      { table: context.name, metadata: { ...metadata, lastColumnId }, schema },
      change,
    );
    schema = { ...schema, ...changed };
    lastColumnId = last;
  }
  const updates: readonly MetadataUpdate[] = [
    { action: 'add-schema', schema, lastColumnId },
    { action: 'set-current-schema', schemaId: -1 },
    ...columnPropertyUpdates(metadata, icebergSchema, schema),
  ];
  const evolved = applyUpdates(metadata, updates, { nowMs: context.clock.now(), baseLocation: loaded.metadataLocation });
  return { state: snapshotStateOf({ ...loaded, metadata: evolved }, { branch: context.branch }), updates };
}

/** What makes room for fields in a struct. @param deep members are added and types widened too. */
function additions(into: StructType, fields: readonly Field[], parent: readonly string[], deep: boolean): readonly SchemaChange[] {
  const missing = fields.filter(({ name }) => fieldNamed(into.fields, name) === undefined);
  const columns = missing.map((field) => ({ parent, field: { ...field, nullable: true } }));
  const within = fields.flatMap((field): readonly SchemaChange[] => {
    const known = deep ? fieldNamed(into.fields, field.name) : undefined;
    if (known === undefined) return [];
    const path = [...parent, known.name];
    if (known.type.kind === 'struct' && field.type.kind === 'struct') return additions(known.type, field.type.fields, path, deep);
    return isWider(known.type, field.type) ? [{ kind: 'change-type', path, type: field.type }] : [];
  });
  return columns.length === 0 ? within : [{ kind: 'add-columns', columns }, ...within];
}

function isWider(from: DataType, to: DataType): boolean {
  return from.kind !== 'date' && canPromote(from, to, { formatVersion: 1, transforms: [] });
}
