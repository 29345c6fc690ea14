import { AnalysisException } from '../../base/analysis-exception.ts';
import { unsupported } from '../../base/unsupported-feature.ts';
import { unresolvedColumn } from '../../expr/bind-expression.ts';
import type { ChangelogRequest, ProcedureParameter, ProcedureValue } from '../../table/queries.ts';
import type { QueryableTable } from '../../table/table.ts';
import { namePath } from '../column.ts';
import { type CommandResult, resultSchema } from '../commands/command-result.ts';
import type { TableReference } from '../plan/plan.ts';
import { invalidArgument } from '../session-errors.ts';
import { severalParts } from './execute-views.ts';
import type { StatementContext } from './statement-context.ts';

type Arguments = ReadonlyMap<string, ProcedureValue>;

/** Behind `table`. */
export const changelogViewParameters: readonly ProcedureParameter[] = [
  { name: 'changelog_view', type: 'string', required: false },
  { name: 'options', type: 'string-map', required: false },
  { name: 'compute_updates', type: 'boolean', required: false },
  { name: 'identifier_columns', type: 'string-list', required: false },
  { name: 'net_changes', type: 'boolean', required: false },
];

/** Behind `table`. */
export const registerTableParameters: readonly ProcedureParameter[] = [{ name: 'metadata_file', type: 'string', required: true }];

/** create_changelog_view: a temporary view of the changes between snapshots. One row: its name. */
export async function changelogView(context: StatementContext, reference: TableReference, args: Arguments): Promise<CommandResult> {
  const { runtime, signal } = context;
  const table = await runtime.tables.load(reference, signal);
  const changelog = changelogRequest(args);
  const { identifierColumns } = changelog;
  await requireColumns(table, identifierColumns ?? [], signal);
  const ownIdentifiers = (await table.detail(signal)).shownProperties?.['identifier-fields'];
  const hasIdentifiers = identifierColumns === undefined ? ownIdentifiers !== undefined : identifierColumns.length > 0;
  if ((changelog.computeUpdates ?? identifierColumns !== undefined) && !hasIdentifiers)
    throw invalidArgument('Cannot compute the update images because identifier columns are not set', 'give identifier_columns');
  const given = args.get('changelog_view');
  // As the reference implementation tells it: ready to be written into a statement.
  const shown = typeof given === 'string' ? given : `\`${reference.kind === 'name' ? (reference.parts.at(-1) ?? '') : 'table'}_changes\``;
  runtime.views.set(viewKey(shown), { kind: 'table', source: { reference, changelog } });
  return { schema: resultSchema({ changelog_view: 'string' }), rows: [{ changelog_view: shown }] };
}

/** @throws AnalysisException `UNRESOLVED_COLUMN.…` for a name that no column of the table has. */
async function requireColumns(table: QueryableTable, names: readonly string[], signal: AbortSignal | undefined): Promise<void> {
  const { schema } = await table.refresh(signal);
  const lacks = (name: string): boolean => !schema.fields.some((field) => field.name.toLowerCase() === name.toLowerCase());
  const unknown = names.find(lacks);
  if (unknown !== undefined) throw unresolvedColumn([unknown], [{ schema }]);
}

/** @throws AnalysisException `_LEGACY_ERROR_TEMP_1321` for what is no name, `TEMP_VIEW_NAME_TOO_MANY_NAME_PARTS` for one of several parts. */
function viewKey(shown: string): string {
  const parts = /^[\p{L}\p{N}_]+$|[`.]/u.test(shown) ? namePath(shown) : [];
  const [name, ...more] = parts;
  if (more.length > 0) throw severalParts(parts);
  if (name !== undefined && name !== '') return name.toLowerCase();
  throw new AnalysisException({
    errorClass: '_LEGACY_ERROR_TEMP_1321',
    message: `Invalid view name: ${shown}.`,
    hint: 'put odd names into backticks',
  });
}

/** register_table: a name for a table whose metadata file is there. */
export async function registerTable(context: StatementContext, reference: TableReference, args: Arguments): Promise<CommandResult> {
  const { runtime, signal } = context;
  if (reference.kind === 'path') throw unsupported('register_table of a path');
  const { catalog, ident } = runtime.tables.resolve(reference.parts);
  if (catalog.register === undefined) throw unsupported(`register_table in catalog ${catalog.name}`);
  const metadataFile = args.get('metadata_file');
  if (metadataFile === '') throw invalidArgument('Cannot handle an empty argument metadata_file', 'give the location of a ….metadata.json');
  if (typeof metadataFile === 'string') runtime.tables.absolutePath(metadataFile);
  const table = await catalog.register(ident, typeof metadataFile === 'string' ? metadataFile : '', signal);
  const snapshot = await table.refresh(signal);
  const row = {
    current_snapshot_id: snapshot.snapshotId,
    total_records_count: snapshot.rowCount === undefined ? undefined : BigInt(snapshot.rowCount),
    total_data_files_count: BigInt(snapshot.fileCount),
  };
  const schema = resultSchema({ current_snapshot_id: 'long', total_records_count: 'long', total_data_files_count: 'long' });
  return { schema, rows: [row] };
}

/** @throws AnalysisException `INVALID_ARGUMENT` for options that do not go together, or that are none. */
function changelogRequest(args: Arguments): ChangelogRequest {
  const options = args.get('options');
  const given = options instanceof Map ? new Map<string, string>(options) : new Map<string, string>();
  const known = ['start-snapshot-id', 'end-snapshot-id', 'start-timestamp', 'end-timestamp'];
  for (const name of given.keys())
    if (!known.includes(name)) throw invalidArgument(`"${name}" is no option of a changelog view`, known.join(', '));
  const identifierColumns = args.get('identifier_columns');
  const columns = Array.isArray(identifierColumns) ? identifierColumns.map(String) : undefined;
  const computeUpdates = args.get('compute_updates');
  const netChanges = args.get('net_changes');
  // Columns that identify rows ask for update images.
  if (netChanges === true && (computeUpdates ?? columns !== undefined) === true)
    throw invalidArgument('Not support net changes with update images');
  const [start, end] = [edge(given, 'start'), edge(given, 'end')];
  return {
    startAfter: start.id,
    until: end.id,
    startAfterMs: start.ms,
    untilMs: end.ms,
    identifierColumns: columns,
    computeUpdates: typeof computeUpdates === 'boolean' ? computeUpdates : undefined,
    netChanges: netChanges === true,
  };
}

/** An edge of the range: a snapshot by id, or the one in force at a time in milliseconds. */
function edge(
  options: ReadonlyMap<string, string>,
  which: 'start' | 'end',
): { readonly id: bigint | undefined; readonly ms: number | undefined } {
  const id = whole(options.get(`${which}-snapshot-id`), `${which}-snapshot-id`);
  const time = whole(options.get(`${which}-timestamp`), `${which}-timestamp`);
  return { id, ms: time === undefined ? undefined : Number(time) };
}

function whole(text: string | undefined, name: string): bigint | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,19}$/.test(text)) return BigInt(text);
  throw invalidArgument(`option ${name} is "${text}", it must be a whole number`);
}
