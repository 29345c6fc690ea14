import { AnalysisException } from '../../base/analysis-exception.ts';
import { printTimestampText } from '../../expr/parse/temporal-text.ts';
import { quoteName } from '../../expr/sql/engine-sql.ts';
import type { Field } from '../../schema/types.ts';
import { changeFields } from '../../table/change-columns.ts';
import type { Relation } from '../../table/relation.ts';
import type { ChangeScan, FileScan, ScanFile } from '../../table/scan.ts';
import type { Analyzed } from '../plan/analyzed.ts';
import type { Execution } from '../run/execution.ts';
import { emptyRelation } from './change-relation.ts';

/** Files of one range read together at most; each has its version and time beside it. */
const maxChangeFiles = 1_000_000;

/**
 * The change rows of a range. Files of all versions are read in one scan for each kind, the version, time and kind of change being values
 * of the file like those of a partition.
 */
export async function lowerChanges(execution: Execution, plan: Extract<Analyzed, { readonly kind: 'changes' }>): Promise<Relation> {
  if (plan.range === undefined) return emptyRelation(plan.schema);
  execution.noteChanges();
  const groups = new Map<string, { readonly scan: FileScan; readonly recorded: boolean; readonly files: ScanFile[] }>();
  let fileCount = 0;
  let byteCount = 0;
  for await (const change of plan.table.changeScans(plan.range, execution.signal)) {
    fileCount += change.scan.files.length;
    if (fileCount > maxChangeFiles) throw tooManyFiles(plan.table.name);
    byteCount += change.scan.statistics.bytesSelected;
    const recorded = change.kind === 'recorded';
    // Rows are either all of a file, or only some of it: the engine reads such files in scans of their own.
    const key = `${recorded} ${change.scan.files[0]?.onlyRows !== undefined}`;
    const group = groups.get(key) ?? { scan: change.scan, recorded, files: [] };
    groups.set(key, group);
    for (const file of change.scan.files) group.files.push(withChangeValues(file, change));
  }
  const counts = { filesConsidered: fileCount, filesSelected: fileCount, bytesConsidered: byteCount, bytesSelected: byteCount };
  execution.report({ table: plan.table.name, version: plan.range.until, ...counts });
  const parts: string[] = [];
  for (const { scan, recorded, files } of groups.values()) {
    const relation = await execution.engine.scan(changeScan(scan, { recorded, files }), {}, execution.signal);
    execution.keep(relation);
    parts.push(`SELECT ${plan.schema.fields.map((field) => quoteName(field.name)).join(', ')} FROM (${relation.sql}) AS "c"`);
  }
  return parts.length === 0 ? emptyRelation(plan.schema) : { sql: parts.join(' UNION ALL '), schema: plan.schema };
}

function changeScan(scan: FileScan, group: { readonly recorded: boolean; readonly files: readonly ScanFile[] }): FileScan {
  const added = changeFields.filter((field) => !(group.recorded && field.name === '_change_type'));
  return {
    ...scan,
    schema: { kind: 'struct', fields: [...withoutAdded(scan.schema.fields, added), ...added] },
    partitionColumns: [...scan.partitionColumns, ...added.map((field) => field.name)],
    files: group.files,
  };
}

function withoutAdded(fields: readonly Field[], added: readonly Field[]): readonly Field[] {
  return fields.filter((field) => !added.some((other) => other.name === field.name));
}

function withChangeValues(file: ScanFile, change: ChangeScan): ScanFile {
  const values = { _commit_version: String(change.version), _commit_timestamp: printTimestampText(change.committedAtMicros) };
  const kind = change.kind === 'recorded' ? {} : { _change_type: change.kind };
  return { ...file, partitionValues: { ...file.partitionValues, ...values, ...kind } };
}

function tooManyFiles(table: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'CHANGE_RANGE_TOO_LARGE',
    kind: 'unsupported',
    message: `the changes of table "${table}" lie in more than ${maxChangeFiles} files`,
    hint: 'read fewer versions at once',
  });
}
