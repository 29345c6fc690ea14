import { AnalysisException } from '../../base/analysis-exception.ts';
import { changeSchema } from '../../table/change-columns.ts';
import { fileRelation } from '../read/file-relation.ts';
import type { Analyzed } from './analyzed.ts';
import type { Execution } from './execution.ts';
import { sourceAttributes } from './outputs.ts';
import type { FileSource, TableSource } from './plan.ts';
import { snapshotFor, versionsOf } from './read-point.ts';

/** @throws AnalysisException `TABLE_OR_VIEW_NOT_FOUND`, `PATH_NOT_FOUND`, and what a read point or a range of changes may be refused with. */
export async function analyzeTable(execution: Execution, source: TableSource): Promise<Analyzed> {
  const table = await execution.runtime.tables.load(source.reference, execution.signal);
  const qualifier = source.reference.kind === 'name' ? source.reference.parts.join('.') : undefined;
  if (source.changes !== undefined) {
    const range = await versionsOf(execution, table, source.changes);
    const last = range === undefined ? await execution.newest(table) : await table.snapshotAt(range.until, execution.signal);
    refuseReserved(last.schema.fields.map((field) => field.name));
    const schema = changeSchema(last.schema);
    return { kind: 'changes', table, schema, range, attributes: sourceAttributes(execution, schema.fields, qualifier) };
  }
  const snapshot = await snapshotFor(execution, table, source.at);
  return { kind: 'table', table, snapshot, attributes: sourceAttributes(execution, snapshot.schema.fields, qualifier) };
}

/** Files that are no table. @throws AnalysisException `PATH_NOT_FOUND`, `UNABLE_TO_INFER_SCHEMA`. */
export async function analyzeFiles(execution: Execution, source: FileSource): Promise<Analyzed> {
  const relation = await fileRelation(execution, source);
  return { kind: 'files', source, relation, attributes: sourceAttributes(execution, relation.schema.fields) };
}

function refuseReserved(names: readonly string[]): void {
  const taken = names.filter((name) => /^_(change_type|commit_version|commit_timestamp)$/i.test(name));
  if (taken.length === 0) return;
  throw new AnalysisException({
    errorClass: 'DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS',
    sqlState: '42711',
    message: `the table has columns [${taken.join(', ')}], which the change feed adds itself`,
    hint: 'rename or drop these columns',
  });
}
