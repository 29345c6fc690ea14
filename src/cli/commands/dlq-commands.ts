import { type Command, InvalidArgumentError } from 'commander';
import { printJson } from '../../base/bigint-json.ts';
import { printableLine } from '../../base/printable.ts';
import { type CommandSession, usageError, wholeNumber } from '../command-session.ts';
import { exitCodes } from '../exit-code.ts';
import { letterHead, letterJson, letterLine, letterText } from '../letter-text.ts';
import { paint } from '../terminal.ts';
import type { AddCommand } from './add-command.ts';
import { addReplayCommand } from './dlq-replay-command.ts';
import { addLetterFlags, filterOf, type LetterFlags, noSuchTable, placeOf } from './letter-flags.ts';

interface ListFlags extends LetterFlags {
  readonly limit?: number | undefined;
}

interface ShowFlags {
  readonly raw?: 'key' | 'value' | undefined;
}

export function addDeadLetterCommands(program: Command, add: AddCommand): void {
  const dlq = program.command('dlq').description('the records that did not fit their table, in the dead-letter topic');
  const list = dlq
    .command('list')
    .description('what there is, a line each: its place, when, whether it was replayed, which table, why, and where the record came from');
  addLetterFlags(list).option('--limit <letters>', 'letters to print at most', wholeNumber(1));
  add<ListFlags>(list, (session, flags) => listLetters(session, flags));
  const show = dlq
    .command('show')
    .description('one letter whole: why, what to do about it, where it came from, its headers, key and value')
    .argument('<place>', '<partition>:<offset> in the dead-letter topic, as list prints it')
    .option('--raw <part>', 'only the bytes of the record’s key or value, as they are', rawPart);
  add<ShowFlags>(show, (session, flags, args) => showLetter(session, flags, args[0] ?? ''));
  addReplayCommand(dlq, add);
}

async function listLetters(session: CommandSession, flags: ListFlags): Promise<number> {
  const { limit } = flags;
  const { terminal } = session;
  const app = await session.app();
  let count = 0;
  await app.listLetters(session.context(), { filter: filterOf(flags), limit }, async (found) => {
    if (count === 0 && !terminal.json) await terminal.out(`${paint(letterHead, 'bold', terminal.colour)}\n`);
    count += 1;
    if (!terminal.json) return terminal.out(`${letterLine(found)}\n`);
    await terminal.out(jsonLine(session, printJson(letterJson(found, 'brief'))));
  });
  if (count === 0 && !terminal.json) await terminal.out(`no such letters${noSuchTable(session.loadConfig(), flags)}\n`);
  return exitCodes.ok;
}

async function showLetter(session: CommandSession, { raw }: ShowFlags, text: string): Promise<number> {
  const place = placeOf(text);
  const { terminal, environment } = session;
  if (raw !== undefined && terminal.json) throw usageError('--raw and --json exclude each other', 'leave one of them out');
  const app = await session.app();
  const found = await app.showLetter(session.context(), place);
  if (raw !== undefined) await environment.outBytes(found.letter[raw] ?? new Uint8Array());
  else if (terminal.json) await terminal.out(jsonLine(session, printJson(letterJson(found, 'whole'))));
  else await terminal.out(letterText(found));
  return exitCodes.ok;
}

/** What people read shows control characters as escapes. */
function jsonLine({ environment }: CommandSession, text: string): string {
  return `${environment.outIsTerminal ? printableLine(text) : text}\n`;
}

function rawPart(text: string): 'key' | 'value' {
  if (text === 'key' || text === 'value') return text;
  throw new InvalidArgumentError('expected key or value');
}
