import type { Command } from 'commander';
import type { MaintainOptions, MaintainReport, MaintenanceVerb } from '../../app/app-commands.ts';
import { factsJson } from '../../base/json-value.ts';
import { printDuration } from '../../base/quantities.ts';
import { type CommandSession, duration, usageError } from '../command-session.ts';
import { bytesText, countText, orAbsent } from '../display-text.ts';
import { exitCodes } from '../exit-code.ts';
import { writeRows } from '../terminal.ts';
import type { AddCommand } from './add-command.ts';

interface MaintainFlags {
  readonly dryRun?: boolean | undefined;
  readonly yes?: boolean | undefined;
  readonly retain?: number | undefined;
  readonly allowShortRetention?: boolean | undefined;
}

const verbs: readonly (readonly [MaintenanceVerb, string])[] = [
  ['compact', 'combine small data files; rows stay the same'],
  ['vacuum', 'delete files that no version references any more'],
  ['expire', 'forget old snapshots and delete what only they needed (Iceberg)'],
  ['rewrite-manifests', 'combine small manifests and order them by partition (Iceberg)'],
  ['rewrite-deletes', 'combine files of deleted positions (Iceberg)'],
  ['checkpoint', 'write a summary of the table’s log and clean the log up'],
];

const maxPathsShown = 20;

export function addMaintainCommand(program: Command, add: AddCommand): void {
  const maintain = program.command('maintain').description('run a maintenance operation here and now, without the queues');
  for (const [verb, description] of verbs) {
    const command = maintain
      .command(verb)
      .description(description)
      .argument('<table>')
      .option('--dry-run', 'say what would be done and do nothing');
    if (verb === 'vacuum') {
      command
        .option('--yes', 'delete; without it vacuum only says what it would delete')
        .option('--retain <duration>', 'keep files younger than this (default: the table’s retention)', duration)
        .option(
          '--allow-short-retention',
          'allow --retain below the table’s retention: readers and feeds may break, and writers at work lose what they wrote and did not commit yet',
        );
    }
    if (verb === 'expire') {
      command.option('--retain <duration>', 'keep snapshots younger than this (default: the table’s own rules)', duration);
    }
    add<MaintainFlags>(command, (session, flags, args) => run(session, verb, flags, args[0] ?? ''));
  }
}

async function run(session: CommandSession, verb: MaintenanceVerb, flags: MaintainFlags, table: string): Promise<number> {
  if (flags.dryRun === true && flags.yes === true) throw usageError('--dry-run and --yes exclude each other');
  const dryRun = flags.dryRun === true || (verb === 'vacuum' && flags.yes !== true);
  const options: MaintainOptions = { table, dryRun, retentionMs: flags.retain, allowShortRetention: flags.allowShortRetention === true };
  const app = await session.app();
  const report = await app.maintain(session.context(), verb, options);
  const { terminal } = session;
  if (terminal.json) await writeRows(terminal, [report], { columns: [], json: reportJson, empty: '' });
  else await terminal.out(reportText(report, { confirmable: verb === 'vacuum' && dryRun && flags.dryRun !== true }));
  return report.outcome === 'conflicted' ? exitCodes.conflict : exitCodes.ok;
}

function reportJson({ table, verb, outcome, version, details, paths, readers }: MaintainReport) {
  return {
    table,
    verb,
    outcome,
    version: version ?? null,
    ...details,
    paths,
    ...(readers.length === 0 ? {} : { readers: readers.map(factsJson) }),
  };
}

/** What is kept for a reader, or what it loses. */
function readerText({ by, fromVersion, versions, ageMs, bytes, isOver, isReleased }: MaintainReport['readers'][number]): string {
  if (versions === 0) return `${by} has read all`;
  const which = versions === 1 ? `version ${fromVersion}` : `versions ${fromVersion} to ${fromVersion + versions - 1}`;
  const facts = `${which}, the oldest ${printDuration(Math.round(ageMs / 1000) * 1000)} old, ${bytesText(bytes ?? 0)} that would be gone otherwise`;
  if (isReleased) return `not kept for ${by} any more, which may lose ${facts}`;
  return `kept for ${by}: ${facts}${isOver ? ', over maintenance.feedHold' : ''}`;
}

function reportText(report: MaintainReport, how: { readonly confirmable: boolean }): string {
  const head: Readonly<Record<MaintainReport['outcome'], string>> = {
    done: `done, version ${orAbsent(report.version)}`,
    planned: 'dry run, nothing was changed',
    'nothing-to-do': 'nothing to do',
    conflicted: 'lost against another writer, nothing was changed; run it again',
  };
  const lines = [`${report.verb} ${report.table}: ${head[report.outcome]}`];
  lines.push(
    ...Object.entries(report.details).map(([name, value]) => `  ${name}: ${/bytes$/i.test(name) ? bytesText(value) : countText(value)}`),
  );
  lines.push(...report.readers.map((reader) => `  ${readerText(reader)}`));
  lines.push(...report.paths.slice(0, maxPathsShown).map((path) => `  ${path}`));
  if (report.paths.length > maxPathsShown) lines.push(`  … and ${countText(report.paths.length - maxPathsShown)} more (--json lists them)`);
  if (how.confirmable && report.outcome === 'planned') lines.push('run it again with --yes to delete');
  return `${lines.join('\n')}\n`;
}
