import { throwIfAborted } from '../../base/abort.ts';
import { assertNever } from '../../base/assert.ts';
import type { ParameterValues } from '../../expr/bind-parameters.ts';
import { type CommandResult, resultFrame } from '../commands/command-result.ts';
import { DataFrame } from '../data-frame.ts';
import { schemaOfPlan } from '../run/actions.ts';
import type { SessionRuntime } from '../run/session-runtime.ts';
import { parseStatement } from '../statements/parse-statement.ts';
import type { Statement } from '../statements/statement.ts';
import { alterTable } from './execute-alter.ts';
import { alterView } from './execute-alter-view.ts';
import { cacheTable } from './execute-cache.ts';
import { callProcedure } from './execute-call.ts';
import { createCatalogView } from './execute-catalog-views.ts';
import { describeDetail, describeHistory, describeQuery, describeTable } from './execute-describe.ts';
import { explain } from './execute-explain.ts';
import { insertInTurn, insertRows } from './execute-insert.ts';
import { convertTable, generateManifest, optimizeTable, reorgTable, restoreTable, vacuumTable } from './execute-maintenance.ts';
import { createNamespace, describeNamespace, dropNamespace, showCatalogs, showNamespaces, useNamespace } from './execute-namespaces.ts';
import { deleteRows, mergeRows, updateRows } from './execute-rows.ts';
import { resetEntry, setEntry } from './execute-set.ts';
import { showColumns, showCreateTable, showPartitions, showTableProperties, showTables, showViews } from './execute-show.ts';
import { cloneTable, createTable, createTableLike, dropTable, refreshTable, truncateTable } from './execute-tables.ts';
import { createView, dropView } from './execute-views.ts';
import { queryPlan, type StatementContext } from './statement-context.ts';

/**
 * Executes one statement. The DataFrame of a query is computed when it is used, its names are checked at once; that of another statement
 * holds the statement's result.
 *
 * @throws ParseException, AnalysisException, and what the operation of the statement throws.
 */
export async function executeText(
  runtime: SessionRuntime,
  text: string,
  parameters: ParameterValues | undefined,
  signal: AbortSignal | undefined,
): Promise<DataFrame> {
  throwIfAborted(signal);
  const statement = parseStatement(text, parameters);
  const context: StatementContext = { runtime, parameters, signal };
  if (statement.kind === 'query') {
    const frame = new DataFrame(runtime, queryPlan(context, statement.query));
    await schemaOfPlan(runtime, frame.plan, signal);
    return frame;
  }
  if (statement.kind === 'show-partitions') return new DataFrame(runtime, await showPartitions(context, statement));
  return resultFrame(runtime, await execute(context, statement));
}

type Command = Exclude<Statement, { readonly kind: 'query' | 'show-partitions' }>;
type Answer = Promise<CommandResult> | CommandResult;

/** Statements about tables and their rows here, those that show or keep things in the two below. */
function execute(context: StatementContext, statement: Command): Answer {
  switch (statement.kind) {
    case 'insert':
      return insertRows(context, statement);
    case 'from-inserts':
      return insertInTurn(context, statement.inserts);
    case 'delete':
      return deleteRows(context, statement);
    case 'update':
      return updateRows(context, statement);
    case 'merge':
      return mergeRows(context, statement);
    case 'create-table':
      return createTable(context, statement);
    case 'create-table-like':
      return createTableLike(context, statement);
    case 'clone-table':
      return cloneTable(context, statement);
    case 'drop-table':
      return dropTable(context, statement);
    case 'truncate-table':
      return truncateTable(context, statement);
    case 'cache':
      return cacheTable(context, statement);
    case 'refresh-table':
      return refreshTable(context, statement);
    case 'alter-table':
      return alterTable(context, statement);
    case 'create-view':
      return createView(context, statement);
    case 'create-catalog-view':
      return createCatalogView(context, statement);
    case 'alter-view':
      return alterView(context, statement);
    case 'drop-view':
      return dropView(context, statement);
    case 'create-namespace':
      return createNamespace(context, statement);
    case 'drop-namespace':
      return dropNamespace(context, statement);
    case 'use':
      return useNamespace(context, statement);
    case 'call':
      return callProcedure(context, statement);
    default:
      return maintain(context, statement);
  }
}

type Showing = Extract<Command, { readonly kind: `show-${string}` | `describe-${string}` | 'explain' | 'set' | 'reset' }>;
type Maintaining = Extract<Command, { readonly kind: 'optimize' | 'reorg' | 'vacuum' | 'restore' | 'convert' | 'generate' }>;

function maintain(context: StatementContext, statement: Maintaining | Showing): Answer {
  switch (statement.kind) {
    case 'optimize':
      return optimizeTable(context, statement);
    case 'reorg':
      return reorgTable(context, statement);
    case 'vacuum':
      return vacuumTable(context, statement);
    case 'restore':
      return restoreTable(context, statement);
    case 'convert':
      return convertTable(context, statement);
    case 'generate':
      return generateManifest(context, statement);
    default:
      return show(context, statement);
  }
}

function show(context: StatementContext, statement: Showing): Answer {
  switch (statement.kind) {
    case 'explain':
      return explain(context, statement);
    case 'show-catalogs':
      return showCatalogs(context, statement);
    case 'show-namespaces':
      return showNamespaces(context, statement);
    case 'show-tables':
      return showTables(context, statement);
    case 'show-views':
      return showViews(context, statement);
    case 'show-table-properties':
      return showTableProperties(context, statement);
    case 'show-columns':
      return showColumns(context, statement);
    case 'show-create-table':
      return showCreateTable(context, statement);
    case 'describe-table':
      return describeTable(context, statement);
    case 'describe-namespace':
      return describeNamespace(context, statement);
    case 'describe-query':
      return describeQuery(context, statement);
    case 'describe-history':
      return describeHistory(context, statement);
    case 'describe-detail':
      return describeDetail(context, statement);
    case 'set':
      return setEntry(context, statement);
    case 'reset':
      return resetEntry(context, statement);
    default:
      return assertNever(statement);
  }
}
