import { type Command, InvalidArgumentError } from 'commander';
import { type FreshnessState, type TableFreshness, type TopicFreshness, tableFreshnessJson } from '../../admin/freshness.ts';
import { assertNever } from '../../base/assert.ts';
import { type CommandSession, duration, wholeNumber } from '../command-session.ts';
import { orAbsent } from '../display-text.ts';
import { exitCodes } from '../exit-code.ts';
import { type Column, writeRows } from '../terminal.ts';
import type { AddCommand } from './add-command.ts';

interface FreshnessFlags {
  readonly partition: number;
  readonly offset: bigint;
  readonly table?: string | undefined;
  readonly wait?: boolean | undefined;
  readonly timeout: number;
}

export function addFreshnessCommand(program: Command, add: AddCommand): void {
  const command = program
    .command('freshness')
    .description(
      'where a record of a topic is, in every table that the topic feeds. Exit codes: 0 each has it or takes it as no row, 4 one has it not and never will, or does not know any more, 5 not yet',
    )
    .argument('<topic>')
    .requiredOption('--partition <number>', 'partition of the record', wholeNumber(0))
    .requiredOption('--offset <offset>', 'offset of the record', recordOffset)
    .option('--table <name>', 'only this table')
    .option('--wait', 'wait until every table has it')
    .option('--timeout <duration>', 'how long to wait at most', duration, duration('1m'));
  add<FreshnessFlags>(command, (session, flags, args) => freshness(session, flags, args[0] ?? ''));
}

const columns: readonly Column<TableFreshness>[] = [
  { title: 'TABLE', text: ({ table }) => table },
  { title: 'STATE', text: ({ state }) => state },
  { title: 'VERSION', text: ({ version }) => orAbsent(version), align: 'right' },
  { title: 'SINCE', text: ({ since }) => orAbsent(since) },
  { title: 'BEHIND', text: ({ behind }) => orAbsent(behind), align: 'right' },
  { title: 'LETTER', text: ({ letter }) => (letter === undefined ? orAbsent(undefined) : `${letter.partition}:${letter.offset}`) },
  { title: 'DETAIL', text: ({ detail }) => detail },
];

async function freshness(session: CommandSession, flags: FreshnessFlags, topic: string): Promise<number> {
  const { partition, offset, table, wait, timeout } = flags;
  const app = await session.app();
  const request = { topic, partition, offset, table, timeoutMs: wait === true ? timeout : 0 };
  const found = await app.freshness(session.context(), request);
  const { endOffset } = found;
  await writeRows(session.terminal, found.tables, {
    columns,
    json: (row) => ({ topic, partition, offset, endOffset: endOffset ?? null, ...tableFreshnessJson(row) }),
    empty: '',
  });
  return exitCodeOf(found);
}

function exitCodeOf({ tables }: TopicFreshness): number {
  const codes = tables.map(({ state }) => codeOf(state));
  if (codes.includes(exitCodes.notYet)) return exitCodes.notYet;
  return codes.includes(exitCodes.dataProblem) ? exitCodes.dataProblem : exitCodes.ok;
}

function codeOf(state: FreshnessState): number {
  switch (state) {
    case 'visible':
    case 'filtered':
    case 'other-table':
      return exitCodes.ok;
    case 'not-yet':
    case 'not-read':
    case 'no-table':
      return exitCodes.notYet;
    case 'dead-letter':
    case 'passed-over':
    case 'undone':
    case 'covered':
    case 'forgotten':
      return exitCodes.dataProblem;
    default:
      return assertNever(state);
  }
}

function recordOffset(text: string): bigint {
  if (/^\d{1,18}$/.test(text)) return BigInt(text);
  throw new InvalidArgumentError('expected a whole number from 0 up');
}
