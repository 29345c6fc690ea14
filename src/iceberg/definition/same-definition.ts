import { describeType } from '../../schema/describe-type.ts';
import type { CreateRequest } from '../../table/table-formats.ts';
import { tableExists } from '../../table/table-names.ts';
import type { SnapshotState } from '../snapshot-state.ts';

/**
 * A table that a name is given to must be what the definition says; one without columns says nothing.
 *
 * @throws AnalysisException `TABLE_OR_VIEW_ALREADY_EXISTS` (42P07).
 */
export function checkSameDefinition({ schema, partitionColumns }: SnapshotState, { name, definition }: CreateRequest): void {
  if (definition.schema.fields.length === 0) return;
  const wanted = definition.partitioning === undefined ? definition.partitionColumns.join() : undefined;
  const sameColumns =
    definition.schema.fields.length === schema.fields.length &&
    definition.schema.fields.every((field, index) => {
      const other = schema.fields[index];
      return other?.name.toLowerCase() === field.name.toLowerCase() && describeType(other.type) === describeType(field.type);
    });
  if (!sameColumns || (wanted !== undefined && wanted !== partitionColumns.join())) throw tableExists(name.split('.'));
}
