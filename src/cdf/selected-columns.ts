import { serviceError } from '../base/errors.ts';
import type { EncodeTask } from '../protocol/change-event.ts';
import type { StructType } from '../schema/types.ts';
import type { VersionChanges } from '../table/changes.ts';

/**
 * The task with only the columns that the feed asks for, in the order of the table; none asked for: all.
 *
 * @throws ServiceError `CDF_COLUMN_UNKNOWN` (kind invalid) for one that the table has not at the version.
 */
export function withSelectedColumns(task: EncodeTask): EncodeTask {
  const { spec, changes } = task;
  return spec.select.length === 0 ? task : { ...task, changes: { ...changes, schema: selectedSchema(spec, changes) } };
}

/**
 * The columns that the feed publishes of a version.
 *
 * @throws ServiceError `CDF_COLUMN_UNKNOWN` (kind invalid) for one that the table has not.
 */
export function selectedSchema(spec: Pick<EncodeTask['spec'], 'select' | 'table'>, changes: VersionChanges): StructType {
  if (spec.select.length === 0) return changes.schema;
  const { fields } = changes.schema;
  const missing = spec.select.find((name) => !fields.some((field) => field.name === name));
  if (missing !== undefined) {
    throw serviceError.invalid('CDF_COLUMN_UNKNOWN', `table "${spec.table}" has no column "${missing}" at version ${changes.version}`, {
      hint: "correct the feed's select; where the column came or went, start behind that version or leave the column out",
    });
  }
  return { kind: 'struct', fields: fields.filter(({ name }) => spec.select.includes(name)) };
}
