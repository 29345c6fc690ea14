import type { Command } from 'commander';
import { assertNever } from '../../base/assert.ts';
import { printJson } from '../../base/bigint-json.ts';
import { factsJson, type JsonObject } from '../../base/json-value.ts';
import { printableLine } from '../../base/printable.ts';
import { refusalText } from '../../ingest/letters/judge-letter.ts';
import type { ReplayOutcome, ReplayReport } from '../../ingest/letters/replay-letters.ts';
import type { StoredLetter } from '../../ingest/letters/stored-letter.ts';
import { type CommandSession, usageError, wholeNumber } from '../command-session.ts';
import { orAbsent } from '../display-text.ts';
import { exitCodes } from '../exit-code.ts';
import type { AddCommand } from './add-command.ts';
import { addLetterFlags, filterOf, type LetterFlags, noSuchTable, placeOf } from './letter-flags.ts';

interface ReplayFlags extends LetterFlags {
  readonly limit?: number | undefined;
  readonly dryRun?: boolean | undefined;
  readonly again?: boolean | undefined;
}

/** Letters that may be named one by one. */
const maxPlaces = 1_000;

export function addReplayCommand(dlq: Command, add: AddCommand): void {
  const replay = dlq
    .command('replay')
    .description('reads letters once more into their tables, by the routes as they are now, each exactly once')
    .argument('[places...]', 'only these letters, each <partition>:<offset> as list prints it; without any: all that the flags mean');
  addLetterFlags(replay)
    .option('--limit <letters>', 'letters to replay at most', wholeNumber(1))
    .option('--dry-run', 'only say which letters would be replayed')
    .option('--again', 'also letters that were replayed before: what has become a row becomes a second one');
  add<ReplayFlags>(replay, (session, flags, args) => replayLetters(session, flags, args));
}

async function replayLetters(session: CommandSession, flags: ReplayFlags, args: readonly string[]): Promise<number> {
  const filter = filterOf(flags);
  if (args.length > maxPlaces)
    throw usageError(
      `${args.length} letters are named, at most ${maxPlaces} can be`,
      'replay them in several steps, or choose them by flags',
    );
  if (args.length > 0 && Object.values(filter).some((value) => value !== undefined))
    throw usageError('letters are named and chosen by flags', 'leave out the places, or the flags that choose letters');
  const { limit, dryRun = false, again = false } = flags;
  const places = args.length === 0 ? undefined : args.map(placeOf);
  const app = await session.app();
  const { terminal } = session;
  const report = await app.replayLetters(session.context(), { filter, places, limit, dryRun, again }, async (letter, outcome) => {
    if (terminal.json) await terminal.out(`${printJson(outcomeJson(letter, outcome, dryRun))}\n`);
    // Of letters that were replayed before the number is enough.
    else if (outcome.kind !== 'replayed-before') await terminal.out(`${printableLine(outcomeText(letter, outcome, dryRun))}\n`);
  });
  await terminal.out(
    terminal.json
      ? `${printJson({ ...report, dryRun })}\n`
      : `${reportText(report, dryRun)}${report.replayed + report.replayedBefore === 0 ? noSuchTable(session.loadConfig(), flags) : ''}\n`,
  );
  return report.refused > 0 ? exitCodes.failure : exitCodes.ok;
}

function outcomeText(letter: StoredLetter, outcome: ReplayOutcome, dryRun: boolean): string {
  const { place, table, source } = letter;
  const from = `${orAbsent(source.topic)}:${orAbsent(source.partition)}:${orAbsent(source.offset)}`;
  const what = `${place.partition}:${place.offset}  ${orAbsent(table)}  ${from}`;
  switch (outcome.kind) {
    case 'replayed':
      return `${dryRun ? 'would be replayed' : 'replayed'}  ${what}`;
    case 'replayed-before':
      return `replayed at ${outcome.at}  ${what}`;
    case 'refused':
      return `not replayed  ${what}  ${outcome.why}: ${refusalText(outcome.why)}`;
    default:
      return assertNever(outcome);
  }
}

function outcomeJson({ place, table, source }: StoredLetter, outcome: ReplayOutcome, dryRun: boolean): JsonObject {
  const refusal = outcome.kind === 'refused' ? outcome.why : undefined;
  return factsJson({
    ...{ partition: place.partition, offset: place.offset, table },
    source: { topic: source.topic, partition: source.partition, offset: source.offset },
    outcome: outcome.kind === 'replayed' && dryRun ? 'would-be-replayed' : outcome.kind,
    replayedAt: outcome.kind === 'replayed-before' ? outcome.at : undefined,
    refusal,
    cure: refusal === undefined ? undefined : refusalText(refusal),
  });
}

function reportText({ replayed, replayedBefore, otherPipelines, refused }: ReplayReport, dryRun: boolean): string {
  const parts = [
    `${replayed} ${replayed === 1 ? 'letter' : 'letters'} ${dryRun ? 'would be replayed' : 'replayed'}`,
    ...(replayedBefore > 0 ? [`${replayedBefore} were replayed before`] : []),
    ...(otherPipelines > 0 ? [`${otherPipelines} of other pipelines left alone`] : []),
    ...(refused > 0 ? [`${refused} cannot be replayed`] : []),
  ];
  return parts.join(', ');
}
