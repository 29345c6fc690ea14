import { AnalysisException } from '../../base/analysis-exception.ts';
import type { Expression } from '../../expr/expression.ts';
import type { RowCommand } from '../../rows/row-target.ts';
import { hasDeleteFiles, hasDeletionVectors } from '../metadata/format-features.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import type { ChangeValidation } from '../transaction/snapshot-change.ts';

/** Whether a command marks rows as deleted (`write.<command>.mode` = `merge-on-read`) in place of rewriting their files. */
export function marksRows({ metadata }: SnapshotState, command: RowCommand): boolean {
  const key = `write.${command}.mode`;
  const mode = metadata.properties[key] ?? 'copy-on-write';
  if (mode !== 'copy-on-write' && mode !== 'merge-on-read') throw unknownValue(key, mode, 'copy-on-write or merge-on-read');
  return mode === 'merge-on-read' && hasDeleteFiles(metadata);
}

/**
 * What nobody else may have done in the meantime, by `write.<command>.isolation-level`: at `snapshot` the rows that change must not have been
 * changed; at `serializable`, the default, no row may have come that the command would have concerned.
 */
export function validationFor(
  state: SnapshotState,
  command: RowCommand,
  touched: { readonly condition: Expression | true; readonly paths: readonly string[]; readonly marked: boolean },
): ChangeValidation {
  const key = `write.${command}.isolation-level`;
  const level = state.metadata.properties[key] ?? 'serializable';
  if (level !== 'serializable' && level !== 'snapshot') throw unknownValue(key, level, 'serializable or snapshot');
  const { condition, paths, marked } = touched;
  return {
    since: state.snapshot?.snapshotId,
    noNewData: level === 'serializable' ? condition : undefined,
    // Rows that two commands delete are deleted; what one updates the other must not have deleted or updated.
    noNewDeletes: marked && (command !== 'delete' || hasDeletionVectors(state.metadata)) ? condition : undefined,
    noNewDeletesForRemoved: !marked,
    // Files that are rewritten are looked for when they are removed.
    requiredFiles: marked ? paths : undefined,
  };
}

function unknownValue(key: string, value: string, known: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'INVALID_TABLE_PROPERTY',
    message: `table property ${key} is "${value}"`,
    hint: `set it to ${known}`,
  });
}
