import type { Command } from 'commander';
import type { ChangeRow } from '../../app/app-commands.ts';
import { type JsonValue, printJson } from '../../base/bigint-json.ts';
import { isServiceError } from '../../base/errors.ts';
import { printableLine } from '../../base/printable.ts';
import { type CommandSession, wholeNumber } from '../command-session.ts';
import { exitCodes } from '../exit-code.ts';
import { paint, type Style, type Terminal } from '../terminal.ts';
import type { AddCommand } from './add-command.ts';
import { addReadChanges } from './read-commands.ts';

interface TailFlags {
  readonly fromVersion?: number | undefined;
  readonly follow?: boolean | undefined;
  readonly limit?: number | undefined;
}

const marks: Readonly<Record<string, readonly [mark: string, style: Style]>> = {
  insert: ['+', 'green'],
  delete: ['-', 'red'],
  update_preimage: ['<', 'faint'],
  update_postimage: ['>', 'yellow'],
};

/** Shown as mark and version, or not at all. */
const changeColumns: ReadonlySet<string> = new Set(['_change_type', '_commit_version', '_commit_timestamp']);

export function addChangesCommand(program: Command, add: AddCommand): void {
  const changes = program.command('changes').description('the row changes of a table, one JSON object a line');
  addReadChanges(changes, add);
  const tail = changes
    .command('tail')
    .description('print row changes, oldest first, read from the table itself')
    .argument('<table>')
    .option('--from-version <version>', 'first version to print (default: all there is; with --follow only what comes)', wholeNumber(0))
    .option('-f, --follow', 'wait for further versions until interrupted')
    .option('--limit <rows>', 'rows to print at most', wholeNumber(1));
  add<TailFlags>(tail, (session, flags, args) => tailChanges(session, flags, args[0] ?? ''));
}

async function tailChanges(session: CommandSession, flags: TailFlags, table: string): Promise<number> {
  const app = await session.app();
  const context = session.context();
  const { terminal } = session;
  const options = { table, fromVersion: flags.fromVersion, follow: flags.follow === true, limit: flags.limit };
  try {
    await app.tailChanges(context, options, (row) => terminal.out(changeLine(row, terminal, session.environment.outIsTerminal)));
  } catch (error) {
    // Interrupting is how one ends a follow.
    if (!(options.follow && context.signal.aborted && isServiceError(error, 'aborted'))) throw error;
  }
  return exitCodes.ok;
}

/** What people read shows control characters as escapes; programs that read JSON from a pipe get it as it is. */
function changeLine(row: ChangeRow, terminal: Terminal, forPerson: boolean): string {
  if (terminal.json) return `${forPerson ? printableLine(printJson(row)) : printJson(row)}\n`;
  const { _change_type: type, _commit_version: version } = row;
  const [mark, style] = marks[typeof type === 'string' ? type : ''] ?? ['?', 'faint'];
  const columns = Object.entries(row).filter(([name]) => !changeColumns.has(name));
  const cells = columns.map(([name, value]) => printableLine(`${name}=${cellText(value)}`));
  return `${paint(`${mark} v${cellText(version)}`, style, terminal.colour)} ${cells.join(' ')}\n`;
}

function cellText(value: JsonValue | undefined): string {
  if (typeof value === 'string' && /^[^\s"=]+$/.test(value)) return value;
  return printJson(value ?? null);
}
