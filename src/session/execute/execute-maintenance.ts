import { sqlTypeName } from '../../schema/sql-type.ts';
import { type CommandResult, noResult } from '../commands/command-result.ts';
import { convertCommand } from '../commands/convert-command.ts';
import { generateCommand, restoreCommand, vacuumCommand } from '../commands/maintenance-commands.ts';
import { optimizeCommand } from '../commands/optimize-command.ts';
import { invalidArgument } from '../session-errors.ts';
import type { Statement } from '../statements/statement.ts';
import { type StatementContext, tableOf, targetOf } from './statement-context.ts';
import { readPointFor } from './time-travel.ts';

type Kind<K extends Statement['kind']> = Extract<Statement, { readonly kind: K }>;

export async function optimizeTable(context: StatementContext, statement: Kind<'optimize'>): Promise<CommandResult> {
  const table = await tableOf(context, statement.name, 'OPTIMIZE');
  const { where, zOrderBy, full } = statement;
  return optimizeCommand({ ...context, table }, { where, zOrderBy, full });
}

export async function reorgTable(context: StatementContext, statement: Kind<'reorg'>): Promise<CommandResult> {
  const table = await tableOf(context, statement.name, 'REORG');
  return optimizeCommand({ ...context, table }, { where: statement.where, purge: true });
}

export async function vacuumTable(context: StatementContext, statement: Kind<'vacuum'>): Promise<CommandResult> {
  const table = await tableOf(context, statement.name, 'VACUUM');
  const { retainHours, dryRun, mode } = statement;
  return vacuumCommand({ ...context, table }, { retentionHours: retainHours, dryRun, mode });
}

export async function restoreTable(context: StatementContext, statement: Kind<'restore'>): Promise<CommandResult> {
  const table = await tableOf(context, statement.name, 'RESTORE');
  const to = await readPointFor(context, statement.to);
  if (to === undefined) throw invalidArgument('RESTORE needs a version or a timestamp');
  return restoreCommand({ ...context, table }, to);
}

export async function generateManifest(context: StatementContext, statement: Kind<'generate'>): Promise<CommandResult> {
  return generateCommand(await targetOf(context, statement.name), statement.mode);
}

export async function convertTable({ runtime, signal }: StatementContext, statement: Kind<'convert'>): Promise<CommandResult> {
  const columns = statement.partitionedBy.map(({ name, type }) => `\`${name.replaceAll('`', '``')}\` ${sqlTypeName(type)}`);
  const partitionSchema = columns.length === 0 ? undefined : columns.join(', ');
  await convertCommand(runtime, statement.name.parts, { partitionSchema, collectStatistics: statement.collectStatistics, signal });
  return noResult;
}
