import { isAbsolute, resolve } from 'node:path';
import type { Command } from 'commander';
import type { ReadTableRequest } from '../../app/app-commands.ts';
import { type CommandSession, usageError, wholeNumber } from '../command-session.ts';
import { exitCodes } from '../exit-code.ts';
import type { AddCommand } from './add-command.ts';

interface ReadFlags {
  readonly version?: number | undefined;
  readonly timestamp?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly filter?: string | undefined;
  readonly limit?: number | undefined;
  readonly canonical?: boolean | undefined;
}

const tableArgument = 'name in the configuration, or a path (with a slash) or file URI of any Delta table';

/** `rows`, `schema` and what `changes` does without a subcommand: what a table holds, as lines of JSON. */
export function addReadCommands(program: Command, add: AddCommand): void {
  const rows = program.command('rows').description('the rows of a table, one JSON object a line').argument('<table>', tableArgument);
  add<ReadFlags>(rowFlags(versionFlags(rows)), (session, flags, args) => readTable(session, 'rows', flags, args[0] ?? ''));
  const schema = program.command('schema').description('the columns of a table, one JSON object a line').argument('<table>', tableArgument);
  add<ReadFlags>(canonicalFlag(versionFlags(schema)), (session, flags, args) => readTable(session, 'schema', flags, args[0] ?? ''));
}

/** `changes <table>`: the command that `tail` is a subcommand of. */
export function addReadChanges(changes: Command, add: AddCommand): void {
  const read = changes
    .argument('[table]', tableArgument)
    .option('--from <version>', 'first version (default: 0)', wholeNumber(0))
    .option('--to <version>', 'last version, included (default: the newest)', wholeNumber(0));
  add<ReadFlags>(rowFlags(read), (session, flags, args) => {
    if (args[0] === undefined)
      throw usageError('changes of which table?', 'write: tidewater changes <table>, or tidewater changes tail <table>');
    return readTable(session, 'changes', flags, args[0]);
  });
}

/** Prints what is asked for of a table. */
export async function readTable(session: CommandSession, what: ReadTableRequest['what'], flags: ReadFlags, table: string): Promise<number> {
  const app = await session.app();
  const { environment, terminal } = session;
  const { version, timestamp, from, to, filter, limit } = flags;
  const options = { version, timestamp, from, to, filter, limit, canonical: flags.canonical === true, signal: environment.signal };
  await app.readTable({ ...locationOf(session, table), ...options, what }, (line) => terminal.out(`${line}\n`));
  return exitCodes.ok;
}

/** A path needs no configuration; a name does. */
export function isPath(table: string): boolean {
  return table.includes('/') || table.startsWith('.') || /^[a-z][a-z0-9+.-]+:/i.test(table);
}

function locationOf(session: CommandSession, table: string): Pick<ReadTableRequest, 'name' | 'location'> {
  if (isPath(table)) {
    const isUri = /^[a-z][a-z0-9+.-]+:/i.test(table);
    return { name: table, location: isUri || isAbsolute(table) ? table : resolve(session.environment.workingDir, table) };
  }
  const { tables } = session.loadConfig().config;
  const entry = tables.find(({ name }) => name === table);
  if (entry !== undefined) return { name: table, location: entry.location };
  const known = tables.map(({ name }) => name).join(', ');
  throw usageError(
    `table "${table}" is not in the configuration`,
    `it has: ${known === '' ? 'no tables' : known}; for a path write ./${table}`,
  );
}

function versionFlags(command: Command): Command {
  return command
    .option('--version <version>', 'as of this version (default: the newest)', wholeNumber(0))
    .option('--timestamp <time>', 'as of this time, such as "2024-05-01 10:00:00", in UTC unless it has an offset');
}

function rowFlags(command: Command): Command {
  return canonicalFlag(
    command
      .option('--filter <condition>', 'only rows of this condition, in SQL')
      .option('--limit <rows>', 'rows to print at most', wholeNumber(1)),
  );
}

/** The form other programs print too, to be compared as text. */
export function canonicalFlag(command: Command): Command {
  return command.option('--canonical', 'RFC 8785 JSON, rows sorted by their bytes');
}
