import { nearestName } from '../../base/nearest-name.ts';
import { usageError } from '../command-session.ts';
import { isResultFormat, resultFormats } from './result-format.ts';
import type { PrintSettings, SqlRunner } from './sql-runner.ts';

export interface ShellContext {
  readonly runner: SqlRunner;
  readonly out: (text: string) => Promise<void>;
  readonly signal: AbortSignal;
}

interface ShellCommand {
  readonly names: readonly string[];
  readonly usage: string;
  readonly description: string;
  readonly run: (argument: string, context: ShellContext) => Promise<'continue' | 'quit'>;
}

/** A line that begins with a backslash talks to the shell, not to the session. */
export function isShellCommand(line: string): boolean {
  return line.trimStart().startsWith('\\');
}

/**
 * Executes one such line.
 *
 * @throws ServiceError `USAGE_INVALID` for a command that is none, and what the statement throws that it stands for.
 */
export async function runShellCommand(line: string, context: ShellContext): Promise<'continue' | 'quit'> {
  const [, name = '', argument = ''] = /^\s*(\\\S*)\s*([\s\S]*?)[;\s]*$/.exec(line) ?? [];
  const known = commands.find(({ names }) => names.includes(name));
  if (known !== undefined) return known.run(argument, context);
  const names = commands.flatMap((command) => command.names);
  const nearest = nearestName(name, names);
  throw usageError(`shell command "${name}" is unknown`, nearest === undefined ? '\\h lists what there is' : `did you mean ${nearest}?`);
}

const commands: readonly ShellCommand[] = [
  {
    names: ['\\d'],
    usage: '\\d [table]',
    description: 'the columns of a table; without one, the tables',
    run: (argument, context) => execute(argument === '' ? 'SHOW TABLES' : `DESCRIBE TABLE ${argument}`, context),
  },
  {
    names: ['\\dt'],
    usage: '\\dt [pattern]',
    description: "the tables of the current database; * in a pattern stands for any letters, as in 'flight*'",
    run: (argument, context) => execute(`SHOW TABLES${argument === '' ? '' : ` LIKE ${textLiteral(argument)}`}`, context),
  },
  { names: ['\\l'], usage: '\\l', description: 'the databases', run: (_argument, context) => execute('SHOW DATABASES', context) },
  {
    names: ['\\format'],
    usage: '\\format table|json|csv',
    description: 'how results are printed',
    run: (argument, context) => setFormat(argument, context),
  },
  {
    names: ['\\x'],
    usage: '\\x',
    description: 'tables with one line for each cell, or not',
    run: (_argument, context) => toggle('expanded', context),
  },
  {
    names: ['\\timing'],
    usage: '\\timing',
    description: 'tell how long each statement takes, or not',
    run: (_argument, context) => toggle('timing', context),
  },
  { names: ['\\h', '\\?', '\\help'], usage: '\\h', description: 'this list', run: (_argument, context) => help(context) },
  { names: ['\\q', '\\quit'], usage: '\\q', description: 'leave (or Ctrl-D)', run: () => Promise.resolve('quit') },
];

async function execute(text: string, { runner, signal }: ShellContext): Promise<'continue'> {
  await runner.run({ text, line: 1, column: 1 }, { signal });
  return 'continue';
}

async function setFormat(format: string, { runner, out }: ShellContext): Promise<'continue'> {
  if (!isResultFormat(format)) {
    throw usageError(`format "${format}" is unknown`, `write \\format ${resultFormats.join(', \\format ')}`);
  }
  runner.settings = { ...runner.settings, format };
  await out(`format is ${format}\n`);
  return 'continue';
}

async function toggle(setting: 'expanded' | 'timing', { runner, out }: ShellContext): Promise<'continue'> {
  const settings: PrintSettings = { ...runner.settings, [setting]: !runner.settings[setting] };
  runner.settings = settings;
  await out(`${setting} is ${settings[setting] ? 'on' : 'off'}\n`);
  return 'continue';
}

async function help({ out }: ShellContext): Promise<'continue'> {
  const width = Math.max(...commands.map(({ usage }) => usage.length));
  const lines = commands.map(({ usage, description }) => `  ${usage.padEnd(width)}  ${description}\n`);
  await out(
    `A statement ends with a semicolon and may have many lines. Ctrl-C drops what you typed, or stops the statement that runs.\n${lines.join('')}`,
  );
  return 'continue';
}

function textLiteral(text: string): string {
  return `'${text
    .replace(/^'(.*)'$/s, '$1')
    .replaceAll('\\', '\\\\')
    .replaceAll("'", "\\'")}'`;
}
