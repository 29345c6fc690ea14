import { type Command, InvalidArgumentError } from 'commander';
import type { FeedSummary } from '../../app/feed-summaries.ts';
import type { FeedActReport, FeedReset, PipelineFeeds, ResetTarget, VersionRange } from '../../app/pipeline-feeds.ts';
import { printJson } from '../../base/bigint-json.ts';
import { factsJson } from '../../base/json-value.ts';
import { printableLine } from '../../base/printable.ts';
import { type CommandSession, usageError, wholeNumber } from '../command-session.ts';
import { countText, orAbsent } from '../display-text.ts';
import { exitCodes } from '../exit-code.ts';
import { type Column, writeRows } from '../terminal.ts';
import type { AddCommand } from './add-command.ts';

interface ActFlags {
  readonly dryRun?: boolean | undefined;
  readonly yes?: boolean | undefined;
  readonly from?: number | undefined;
  readonly to?: ResetTarget | undefined;
}

const named = '<name>, <table>/<name>, or a table that has one feed';

export function addFeedCommands(program: Command, add: AddCommand): void {
  const feeds = program.command('feeds').description('the change feeds of the pipeline: where they stand, and what operators do to them');
  add(feeds.command('list').description('where each feed stands'), (session) => list(session));
  add(
    feeds.command('show').description('one feed: its settings and its position, or a registered reader').argument('<feed>', named),
    (session, _, args) => show(session, args[0] ?? ''),
  );
  const acts = [
    ['pause', 'publish nothing until it is resumed; also through starts, and what it needs is kept'],
    ['resume', 'go on where it was paused'],
  ] as const;
  for (const [act, description] of acts) {
    const command = feeds.command(act).description(description).argument('<feed>', named);
    add<ActFlags>(command.option('--dry-run', 'say what would be done and do nothing'), (session, flags, [feed = '']) =>
      perform(session, flags.dryRun === true, (all, dryRun, signal) => all[act](feed, { dryRun, signal })),
    );
  }
  const reset = feeds
    .command('reset')
    .description('go on somewhere else; what was published stays in the topic')
    .argument('<feed>', named)
    .requiredOption(
      '--to <place>',
      'a version (its changes are published next), a time in ISO 8601 (the first version of that time or later), earliest, latest (only what comes), snapshot (the rows as they are, then changes) or current (where it stands, in the form that the settings have now)',
      resetTarget,
    );
  addConfirmed(reset, add, (all, flags, feed, options) => all.reset(feed, flags.to ?? { kind: 'latest' }, options));
  const rename = feeds
    .command('rename')
    .description('give a feed of the settings the position of its old name, which the settings do not have any more')
    .argument('<feed>', 'id of the old name, as list prints it')
    .argument('<name>', 'the new name');
  addConfirmed(rename, add, (all, _, feed, options, name) => all.rename(feed, name, options));
  const register = feeds
    .command('register')
    .description('keep the changes of a table for a reader that is no feed; again as it moves forward, until it is dropped')
    .argument('<table>')
    .argument('<reader>', 'a name for it')
    .requiredOption('--from <version>', 'the first version that it still has to read', wholeNumber(0))
    .option('--dry-run', 'say what would be done and do nothing');
  add<ActFlags>(register, (session, flags, [table = '', reader = '']) =>
    perform(session, flags.dryRun === true, (all, dryRun, signal) => all.register(table, reader, flags.from ?? 0, { dryRun, signal })),
  );
  const drop = feeds
    .command('drop')
    .description('forget a feed that is not in the settings any more, or a reader')
    .argument('<feed>', 'its id, as list prints it');
  addConfirmed(drop, add, (all, _, feed, options) => all.drop(feed, options));
}

function addConfirmed(
  command: Command,
  add: AddCommand,
  act: (
    all: PipelineFeeds,
    flags: ActFlags,
    feed: string,
    options: { readonly dryRun: boolean; readonly signal: AbortSignal },
    name: string,
  ) => Promise<FeedActReport>,
): void {
  command.option('--dry-run', 'say what would be done and do nothing').option('--yes', 'do it; without it this only says what it would do');
  add<ActFlags>(command, (session, flags, [feed = '', name = '']) => {
    if (flags.dryRun === true && flags.yes === true) throw usageError('--dry-run and --yes exclude each other');
    return perform(session, flags.yes !== true, (all, dryRun, signal) => act(all, flags, feed, { dryRun, signal }, name));
  });
}

function resetTarget(text: string): ResetTarget {
  if (text === 'earliest' || text === 'latest' || text === 'snapshot' || text === 'current') return { kind: text };
  if (/^\d+$/.test(text) && Number.isSafeInteger(Number(text))) return { kind: 'version', version: Number(text) };
  const timestampMs = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(timestampMs)) return { kind: 'timestamp', timestampMs };
  throw new InvalidArgumentError('expected a version, a time such as 2026-01-31T12:00:00Z, earliest, latest, snapshot or current');
}

const columns: readonly Column<FeedSummary>[] = [
  { title: 'FEED', text: ({ name }) => name },
  { title: 'TABLE', text: ({ table }) => table },
  { title: 'TOPIC', text: ({ topic }) => orAbsent(topic) },
  { title: 'STATE', text: ({ state }) => state },
  { title: 'VERSION', text: ({ position }) => orAbsent(position?.version), align: 'right' },
  {
    title: 'ORDINAL',
    text: ({ position }) => (position === undefined ? '-' : position.complete ? 'end' : countText(position.ordinal)),
    align: 'right',
  },
  { title: 'SNAPSHOT', text: ({ snapshot }) => (snapshot?.percent === undefined ? '-' : `${snapshot.percent}%`), align: 'right' },
  { title: 'BEHIND', text: ({ lagVersions }) => countText(lagVersions), align: 'right' },
];

async function list(session: CommandSession): Promise<number> {
  const app = await session.app();
  const rows = await app.operateFeeds(session.context(), (feeds, signal) => feeds.list(signal));
  await writeRows(session.terminal, rows, { columns, json: factsJson, empty: 'the pipeline has no feeds' });
  return exitCodes.ok;
}

async function show(session: CommandSession, feed: string): Promise<number> {
  const app = await session.app();
  const { terminal } = session;
  const { summary, settings } = await app.operateFeeds(session.context(), (feeds, signal) => feeds.describe(feed, signal));
  if (terminal.json) {
    await terminal.out(`${printJson(factsJson({ ...summary, settings }))}\n`);
    return exitCodes.ok;
  }
  const facts = factsJson({ ...summary, ...(settings ?? {}) });
  const width = Math.max(...Object.keys(facts).map(({ length }) => length));
  const lines = Object.entries(facts).flatMap(([name, value]) => {
    const text = typeof value === 'string' ? value : printJson(value ?? null);
    return text === 'null' || text === '[]' || text === '{}' ? [] : [`${name.padEnd(width)}  ${printableLine(text)}\n`];
  });
  await terminal.out(lines.join(''));
  return exitCodes.ok;
}

async function perform(
  session: CommandSession,
  dryRun: boolean,
  act: (feeds: PipelineFeeds, dryRun: boolean, signal: AbortSignal) => Promise<FeedActReport>,
): Promise<number> {
  const app = await session.app();
  const { terminal } = session;
  const report = await app.operateFeeds(session.context(), (feeds, signal) => act(feeds, dryRun, signal));
  await terminal.out(terminal.json ? `${printJson(factsJson(report))}\n` : reportText(report));
  return exitCodes.ok;
}

function reportText({ id, act, outcome, reset }: FeedActReport): string {
  const heads: Readonly<Record<FeedActReport['outcome'], string>> = {
    done: 'done',
    planned: 'dry run, nothing was changed',
    'nothing-to-do': act === 'pause' ? 'it is paused already' : 'it is not paused',
  };
  const lines = [`${act} ${id}: ${heads[outcome]}`];
  if (reset !== undefined) {
    const { from, to, again, left, leftOfSnapshot } = reset;
    lines.push(
      `  from: ${from === undefined ? 'nothing published' : `version ${from.version}, ${from.complete ? 'whole' : `row ${from.ordinal}`}`}`,
    );
    lines.push(`  to: ${placeText(reset)}`);
    if (again !== undefined) lines.push(`  published again: ${rangeText(again)}, which the topic has already`);
    if (left !== undefined && to.snapshot)
      lines.push(`  shown by the snapshot alone: ${rangeText(left)}; keys deleted there stay in the topic`);
    if (leftOfSnapshot !== undefined) {
      const rows = leftOfSnapshot.rows === undefined ? 'the rest' : `${countText(leftOfSnapshot.rows)} rows, the rest`;
      lines.push(`  never published: ${rows} of the snapshot of version ${leftOfSnapshot.version}`);
    }
    if (left !== undefined && !to.snapshot) lines.push(`  never published: ${rangeText(left)}`);
  }
  if (outcome === 'planned' && (act === 'reset' || act === 'drop' || act === 'rename')) lines.push('run it again with --yes to do it');
  return `${lines.join('\n')}\n`;
}

function placeText({ to, snapshotRows }: FeedReset): string {
  if (to.complete) return `the changes after version ${to.version}`;
  if (!to.snapshot || to.ordinal > 0) return `row ${to.ordinal} of version ${to.version}`;
  return `a snapshot of version ${to.version}${snapshotRows === undefined ? '' : `, ${countText(snapshotRows)} rows before the condition`}`;
}

function rangeText({ from, until }: VersionRange): string {
  return until - from === 1 ? `version ${from}` : `versions ${from} to ${until - 1}`;
}
