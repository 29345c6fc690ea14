import type { Field } from '../../schema/types.ts';
import type { WriteRequest } from '../../table/row-operations.ts';
import { changeSchema } from '../definition/schema-changes.ts';
import type { IcebergView } from '../iceberg-view.ts';
import { applyUpdates } from '../spec/apply-updates.ts';
import type { MetadataUpdate } from '../spec/metadata-updates.ts';
import type { TableContext } from '../table-context.ts';
import { viewOf } from '../view-of.ts';

/** Tables with this property take columns that they lack from rows that are written with `mergeSchema`, as in Spark. */
const acceptAnySchema = 'write.spark.accept-any-schema';

/** What rows are written as: the table's definition, or the one that their commit makes. */
export interface EvolvedView {
  readonly view: IcebergView;
  readonly updates: readonly MetadataUpdate[];
}

/** The table with the columns that the rows have and it lacks, optional and last; the view as it is when they are not asked for. */
export function evolvedView(context: TableContext, base: IcebergView, request: WriteRequest): EvolvedView {
  const accepted = request.mergeSchema === true && base.metadata.properties[acceptAnySchema]?.toLowerCase() === 'true';
  const missing = accepted ? missingColumns(base, request) : [];
  if (missing.length === 0) return { view: base, updates: [] };
  const { metadata, icebergSchema: schema, loaded } = base;
  const columns = missing.map((field) => ({ parent: [], field: { ...field, nullable: true } }));
  const { struct, identifierFieldIds, lastColumnId } = changeSchema(
    { table: context.name, metadata, schema },
    { kind: 'add-columns', columns },
  );
  const updates: readonly MetadataUpdate[] = [
    { action: 'add-schema', schema: { ...schema, schemaId: metadata.schemas.length, struct, identifierFieldIds }, lastColumnId },
    { action: 'set-current-schema', schemaId: -1 },
  ];
  const evolved = applyUpdates(metadata, updates, { nowMs: context.clock.now(), baseLocation: loaded.metadataLocation });
  return { view: viewOf({ ...loaded, metadata: evolved }, { branch: context.branch }), updates };
}

function missingColumns({ schema }: IcebergView, { rows }: WriteRequest): readonly Field[] {
  const known = new Set(schema.fields.map(({ name }) => name.toLowerCase()));
  return rows.schema.fields.filter(({ name }) => !known.has(name.toLowerCase()));
}
