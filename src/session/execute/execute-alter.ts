import type { DefinitionChange } from '../../table/definition-changes.ts';
import { type CommandResult, noResult } from '../commands/command-result.ts';
import { commitOptionsOf } from '../commands/row-commands.ts';
import { unsupported } from '../session-errors.ts';
import type { AlterAction, ObjectName, Statement } from '../statements/statement.ts';
import { type StatementContext, targetOf } from './statement-context.ts';

/** ALTER TABLE: each action is a version of the table. */
export async function alterTable(
  context: StatementContext,
  statement: Extract<Statement, { readonly kind: 'alter-table' }>,
): Promise<CommandResult> {
  const [first] = statement.actions;
  if (first?.kind === 'rename-table') return renameTable(context, statement.name, first.to);
  const target = await targetOf(context, statement.name);
  for (const action of statement.actions) {
    const change = definitionChange(action, target.table.format);
    const assumed = context.runtime.conf.switch('spark.databricks.delta.constraints.assumesDropIfExists.enabled') === true;
    await target.table.operations.alter(assumed ? toleratingAbsence(change) : change, commitOptionsOf(target));
  }
  return noResult;
}

/** ALTER TABLE … RENAME TO: within one catalog; a name of one part stays in the namespace of the table, as in Spark. */
async function renameTable({ runtime, signal }: StatementContext, from: ObjectName, to: ObjectName): Promise<CommandResult> {
  if (runtime.tables.referenceOf(from.parts).kind === 'path') throw unsupported('ALTER TABLE … RENAME TO of a path', 'paths have no names');
  const source = runtime.tables.resolve(from.parts);
  const target = runtime.tables.resolve(to.parts.length === 1 ? [...from.parts.slice(0, -1), ...to.parts] : to.parts);
  if (source.catalog !== target.catalog) throw unsupported('ALTER TABLE … RENAME TO another catalog');
  await source.catalog.rename(source.ident, target.ident, signal);
  return noResult;
}

/** @throws AnalysisException `UNSUPPORTED_FEATURE` for what the table's format does not have. */
function definitionChange(action: AlterAction, format: string): DefinitionChange {
  switch (action.kind) {
    case 'rename-table':
    case 'add-partition-field':
    case 'drop-partition-field':
    case 'replace-partition-field':
    case 'write-order':
    case 'set-identifier-fields':
    case 'drop-identifier-fields':
    case 'create-ref':
    case 'drop-ref':
      throw unsupported(`ALTER TABLE with ${action.kind.replaceAll('-', ' ')} on a table of format ${format}`);
    default:
      return action;
  }
}

function toleratingAbsence(change: DefinitionChange): DefinitionChange {
  return change.kind === 'drop-constraint' ? { ...change, ifExists: true } : change;
}
