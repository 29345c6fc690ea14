import { AnalysisException } from '../../base/analysis-exception.ts';
import { present } from '../../base/assert.ts';
import { unsupported } from '../../base/unsupported-feature.ts';
import type { Field } from '../../schema/types.ts';
import { changeSchema } from '../../table/change-columns.ts';
import { traitsOf } from '../../table/formats.ts';
import type { ChangelogRequest } from '../../table/queries.ts';
import type { HeldRelation } from '../../table/relation.ts';
import type { QueryableTable, Snapshot } from '../../table/table.ts';
import type { SelectedTable } from '../names/session-tables.ts';
import type { Analyzed } from '../plan/analyzed.ts';
import type { LiveSource } from '../plan/live-table.ts';
import type { FileSource, TableSource } from '../plan/plan.ts';
import { fileRelation } from '../read/file-relation.ts';
import { liveSourceNamed } from '../read/live-source.ts';
import type { Execution } from '../run/execution.ts';
import type { Analysis } from './analysis.ts';
import { analyzeView } from './analyze-view.ts';
import { sourceAttributes } from './outputs.ts';
import { snapshotFor, versionsOf } from './read-point.ts';

/** @throws AnalysisException `TABLE_OR_VIEW_NOT_FOUND`, `PATH_NOT_FOUND`, and what a read point or a range of changes may be refused with. */
export async function analyzeTable(analysis: Analysis, source: TableSource): Promise<Analyzed> {
  const { execution } = analysis;
  const live = liveSourceNamed(execution.runtime.live, source);
  if (live !== undefined) return analyzeLive(execution, live, nameOf(source));
  const { whole, ...rest } = source;
  if (whole !== undefined && (await execution.runtime.tables.find(whole, execution.signal)) !== undefined) {
    return analyzeTable(analysis, { ...rest, reference: whole, at: undefined });
  }
  const found = await execution.runtime.tables.select(source.reference, execution.signal, source.open);
  const view = found === undefined ? await execution.runtime.tables.findView(source.reference, execution.signal) : undefined;
  if (view !== undefined) return analyzeView(analysis, view, source);
  const { table, selector }: SelectedTable = found ?? { table: await execution.runtime.tables.load(source.reference, execution.signal) };
  const qualifier = nameOf(source);
  if (source.at !== undefined && selector?.at !== undefined) throw travelsTwice(selector.branch);
  const at = source.at ?? selector?.at;
  if (selector?.metadataTable !== undefined) {
    const rows = await table.metadataTable(selector.metadataTable, source.at, execution.signal);
    return { kind: 'metadata', rows, attributes: sourceAttributes(execution, rows.schema.fields, qualifier) };
  }
  const changelog = source.changelog ?? (selector?.changelog === true ? {} : undefined);
  if (changelog !== undefined) {
    const relation = execution.keep(await changelogOf(table, changelog, execution));
    return { kind: 'relation', relation, attributes: sourceAttributes(execution, relation.schema.fields, qualifier) };
  }
  if (source.changes !== undefined) {
    const range = await versionsOf(execution, table, source.changes);
    const last = range === undefined ? await execution.newest(table) : await table.snapshotAt(range.until, execution.signal);
    refuseReserved(last.schema.fields.map((field) => field.name));
    const schema = changeSchema(last.schema);
    return { kind: 'changes', table, schema, range, attributes: sourceAttributes(execution, schema.fields, qualifier) };
  }
  const snapshot = await snapshotFor(execution, table, at);
  const { appendedAfter } = source;
  if (appendedAfter !== undefined && !traitsOf[table.format].readsAppends)
    throw unsupported(`the option "start-snapshot-id" of ${table.name}, a ${table.format} table,`, 'read its change feed: readChangeFeed');
  const attributes = sourceAttributes(execution, snapshot.schema.fields, qualifier);
  const hidden = sourceAttributes(execution, hiddenFields(table, snapshot), qualifier);
  return { kind: 'table', table, snapshot, at, appendedAfter, attributes, hidden };
}

function nameOf({ reference }: TableSource): string | undefined {
  return reference.kind === 'name' ? reference.parts.join('.') : undefined;
}

/** A table with what its topics hold behind it, as of now. @throws ServiceError `LIVE_READ_…`, for what cannot be read. */
export async function analyzeLive(execution: Execution, source: LiveSource, qualifier: string | undefined): Promise<Analyzed> {
  const { runtime, engine, signal } = execution;
  const live = present(runtime.live, 'sessions read live tables');
  const relation = execution.keep(await live.open(source, { engine, signal }));
  return { kind: 'relation', relation, attributes: sourceAttributes(execution, relation.schema.fields, qualifier) };
}

/** Those that no column of the table has the name of. */
function hiddenFields(table: QueryableTable, snapshot: Snapshot): readonly Field[] {
  const taken = new Set(snapshot.schema.fields.map(({ name }) => name.toLowerCase()));
  return table.hiddenColumns(snapshot).flatMap(({ field }) => (taken.has(field.name.toLowerCase()) ? [] : [field]));
}

function changelogOf(table: QueryableTable, request: ChangelogRequest, { signal }: Execution): Promise<HeldRelation> {
  if (table.changelog !== undefined) return table.changelog(request, signal);
  throw unsupported(`a changelog view of ${table.name}, a ${table.format} table,`, 'read its change feed: table_changes(name, start)');
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
    message: `the table has columns [${taken.join(', ')}], which the change feed adds itself`,
    hint: 'rename or drop these columns',
  });
}

/** A name that tells a point in time, read at another one. */
function travelsTwice(branch: string | undefined): AnalysisException {
  return new AnalysisException({
    errorClass: 'UNSUPPORTED_FEATURE.TIME_TRAVEL',
    kind: 'unsupported',
    message:
      branch === undefined ? "Can't time travel using selector and Spark time travel spec at the same time" : "Can't time travel in branch",
    hint: 'read the table itself at a version or time',
  });
}
