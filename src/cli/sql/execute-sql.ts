import { resolve } from 'node:path';
import { isServiceError } from '../../base/errors.ts';
import { catalogConf } from '../../config/catalog-settings.ts';
import { namePath } from '../../session/column.ts';
import type { Session } from '../../session/session.ts';
import { type CommandSession, usageError } from '../command-session.ts';
import { exitCodes } from '../exit-code.ts';
import { confOf } from '../named-table.ts';
import { isShellCommand, runShellCommand } from './shell-command.ts';
import type { SqlFlags, SqlInput } from './sql-flags.ts';
import { SqlRunner } from './sql-runner.ts';
import { runShell } from './sql-shell.ts';
import { StatementScanner } from './statement-scanner.ts';

/** Executes what `tidewater sql` was given: texts and files in their order, else standard input, else a conversation. */
export async function executeSql(command: CommandSession, flags: SqlFlags, inputs: readonly SqlInput[]): Promise<number> {
  const { environment, terminal } = command;
  const { signal } = environment;
  const interactive = inputs.length === 0 && environment.input.isTerminal;
  const session = await openSession(command, flags);
  try {
    if (flags.database !== undefined) await session.runtime.tables.use(namePath(flags.database), signal);
    const format = flags.format ?? (terminal.json ? 'json' : 'table');
    const settings = { format, expanded: false, timing: flags.timing === true, confirm: interactive, forPerson: environment.outIsTerminal };
    const runner = new SqlRunner({ session, out: terminal.out, err: terminal.err, settings });
    if (interactive) await runShell(command, runner);
    else for (const input of inputs.length === 0 ? [{ kind: 'file', value: '-' } as const] : inputs) await runInput(command, runner, input);
    return exitCodes.ok;
  } finally {
    await session.stop();
  }
}

async function openSession(command: CommandSession, flags: SqlFlags): Promise<Session> {
  const catalogs = (command.namedConfig()?.config.catalogs ?? []).flatMap((catalog) => Object.entries(catalogConf(catalog)));
  const warehouse =
    flags.warehouse === undefined ? [] : [['spark.sql.warehouse.dir', placeOf(flags.warehouse, command.environment.workingDir)] as const];
  try {
    const entries = [...liveCatalog(command), ...catalogs, ...Object.entries(confOf(flags.conf ?? [])), ...warehouse];
    return (await command.app()).openSession(Object.fromEntries(entries));
  } catch (error) {
    // A wrong configuration is wrong usage.
    throw isServiceError(error, 'invalid') ? usageError(`--conf: ${error.message}`, error.hint) : error;
  }
}

/** The pipeline's tables with what its topics hold behind them: `live.<table>`. */
function liveCatalog({ configFiles, environment }: CommandSession): readonly (readonly [string, string])[] {
  if (configFiles === undefined) return [];
  const files = configFiles.map((file) => resolve(environment.workingDir, file)).join(',');
  return [
    ['spark.sql.catalog.live', 'tidewater.LiveCatalog'],
    ['spark.sql.catalog.live.config', files],
  ];
}

/** A directory, from where the command runs, or a location in another store as it is. */
function placeOf(given: string, workingDir: string): string {
  return /^[a-z][a-z0-9+.-]+:/i.test(given) ? given : resolve(workingDir, given);
}

async function runInput({ environment, terminal }: CommandSession, runner: SqlRunner, input: SqlInput): Promise<void> {
  const { signal } = environment;
  if (input.kind === 'text') {
    if (isShellCommand(input.value)) await runShellCommand(input.value, { runner, out: terminal.out, signal });
    else await runScript([input.value], runner, { signal });
  } else if (input.value === '-') {
    environment.input.stream.setEncoding('utf8');
    await runScript(environment.input.stream, runner, { input: 'standard input', signal });
  } else {
    const text = readFile(input.value, (path) => environment.readText(resolve(environment.workingDir, path)));
    await runScript([text], runner, { input: input.value, signal });
  }
}

/** Executes each statement as soon as it is complete; the first error ends the script. */
async function runScript(
  pieces: AsyncIterable<string | Buffer> | Iterable<string>,
  runner: SqlRunner,
  options: { readonly input?: string | undefined; readonly signal: AbortSignal },
): Promise<void> {
  const scanner = new StatementScanner();
  for await (const piece of pieces) {
    for (const statement of scanner.push(piece.toString())) await runner.run(statement, options);
  }
  for (const statement of scanner.finish()) await runner.run(statement, options);
}

function readFile(path: string, readText: (path: string) => string): string {
  try {
    return readText(path);
  } catch (error) {
    throw usageError(
      `cannot read the file "${path}": ${error instanceof Error ? error.message : String(error)}`,
      'check the path behind -f',
    );
  }
}
