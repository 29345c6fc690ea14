import { serviceError } from '../base/errors.ts';
import type { EncodeTask } from '../protocol/change-event.ts';

/**
 * The task with only the columns that the feed asks for, in the order of the table; none asked for: all.
 *
 * @throws ServiceError `CDF_COLUMN_UNKNOWN` (kind invalid) for one that the table has not at the version.
 */
export function withSelectedColumns(task: EncodeTask): EncodeTask {
  const { spec, changes } = task;
  if (spec.select.length === 0) return task;
  const { fields } = changes.schema;
  const missing = spec.select.find((name) => !fields.some((field) => field.name === name));
  if (missing !== undefined) {
    throw serviceError.invalid('CDF_COLUMN_UNKNOWN', `table "${spec.table}" has no column "${missing}" at version ${changes.version}`, {
      hint: "correct the feed's select; where the column came or went, start behind that version or leave the column out",
    });
  }
  const selected = fields.filter(({ name }) => spec.select.includes(name));
  return { ...task, changes: { ...changes, schema: { kind: 'struct', fields: selected } } };
}
