import { type Command, InvalidArgumentError } from 'commander';
import { printJson } from '../../base/bigint-json.ts';
import { isServiceError } from '../../base/errors.ts';
import { printableLine } from '../../base/printable.ts';
import { parseDuration } from '../../base/quantities.ts';
import { type CommandSession, usageError, wholeNumber } from '../command-session.ts';
import { exitCodes } from '../exit-code.ts';
import { letterHead, letterJson, letterLine, letterText } from '../letter-text.ts';
import { paint } from '../terminal.ts';
import type { AddCommand } from './add-command.ts';

interface ListFlags {
  readonly table?: string | undefined;
  readonly topic?: string | undefined;
  readonly reason?: string | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly limit?: number | undefined;
}

interface ShowFlags {
  readonly raw?: 'key' | 'value' | undefined;
}

export function addDeadLetterCommands(program: Command, add: AddCommand): void {
  const dlq = program.command('dlq').description('the records that did not fit their table, in the dead-letter topic');
  const list = dlq
    .command('list')
    .description('what there is, a line each: its place, when, which table, why, and where the record came from')
    .option('--table <table>', 'only letters of this table')
    .option('--topic <topic>', 'only letters whose record came from this topic')
    .option('--reason <reason>', 'only letters with this reason, such as wrong-type')
    .option('--since <time>', 'only letters written from then on: a time (2026-01-31T12:00:00Z), or how long ago (2h)', time)
    .option('--until <time>', 'only letters written before then', time)
    .option('--limit <letters>', 'letters to print at most', wholeNumber(1));
  add<ListFlags>(list, (session, flags) => listLetters(session, flags));
  const show = dlq
    .command('show')
    .description('one letter whole: why, what to do about it, where it came from, its headers, key and value')
    .argument('<place>', '<partition>:<offset> in the dead-letter topic, as list prints it')
    .option('--raw <part>', 'only the bytes of the record’s key or value, as they are', rawPart);
  add<ShowFlags>(show, (session, flags, args) => showLetter(session, flags, args[0] ?? ''));
}

async function listLetters(session: CommandSession, flags: ListFlags): Promise<number> {
  const { table, topic, reason, since, until, limit } = flags;
  const { terminal } = session;
  const app = await session.app();
  let count = 0;
  const filter = { table, topic, reason, sinceMs: since, untilMs: until };
  await app.listLetters(session.context(), { filter, limit }, async (letter) => {
    if (count === 0 && !terminal.json) await terminal.out(`${paint(letterHead, 'bold', terminal.colour)}\n`);
    count += 1;
    if (!terminal.json) return terminal.out(`${letterLine(letter)}\n`);
    await terminal.out(jsonLine(session, printJson(letterJson(letter, 'brief'))));
  });
  if (count === 0 && !terminal.json) await terminal.out('no such letters\n');
  return exitCodes.ok;
}

async function showLetter(session: CommandSession, { raw }: ShowFlags, place: string): Promise<number> {
  const [, partition, offset] = /^(\d{1,9}):(\d{1,18})$/.exec(place) ?? [];
  if (partition === undefined || offset === undefined)
    throw usageError(`"${place}" is no place of a letter`, 'expected <partition>:<offset>, as tidewater dlq list prints it');
  const { terminal, environment } = session;
  if (raw !== undefined && terminal.json) throw usageError('--raw and --json exclude each other', 'leave one of them out');
  const app = await session.app();
  const letter = await app.showLetter(session.context(), { partition: Number(partition), offset: BigInt(offset) });
  if (raw !== undefined) await environment.outBytes(letter[raw] ?? new Uint8Array());
  else if (terminal.json) await terminal.out(jsonLine(session, printJson(letterJson(letter, 'whole'))));
  else await terminal.out(letterText(letter));
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

/** For commander: a time, or how long ago it was, as epoch milliseconds. */
function time(text: string): number {
  const at = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(at)) return at;
  try {
    return Date.now() - parseDuration(text);
  } catch (error) {
    if (!isServiceError(error)) throw error;
    throw new InvalidArgumentError('expected a time such as 2026-01-31T12:00:00Z, a day such as 2026-01-31, or how long ago, such as 2h');
  }
}
