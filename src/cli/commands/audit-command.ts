import type { Command } from 'commander';
import type { AuditReport } from '../../app/app-commands.ts';
import type { CommandSession } from '../command-session.ts';
import { exitCodes } from '../exit-code.ts';
import { countText } from '../humane.ts';
import { type Column, paint, writeRows } from '../terminal.ts';
import type { AddCommand } from './add-command.ts';

export function addAuditCommand(program: Command, add: AddCommand): void {
  const command = program
    .command('audit')
    .description('check from the table alone: offsets contiguous, no overlap, counts add up')
    .argument('[table]', 'default: all tables');
  add(command, (session, _flags, args) => audit(session, args[0]));
}

const columns: readonly Column<AuditReport>[] = [
  { title: 'TABLE', text: ({ table }) => table },
  { title: 'VERSIONS', text: ({ versions }) => countText(versions), align: 'right' },
  { title: 'RECORDS', text: ({ records }) => countText(records), align: 'right' },
  { title: 'ROWS', text: ({ rows }) => countText(rows), align: 'right' },
  { title: 'DEAD LETTERS', text: ({ deadLettered }) => countText(deadLettered), align: 'right' },
  { title: 'FILTERED', text: ({ filtered }) => countText(filtered), align: 'right' },
  { title: 'VERDICT', text: (report) => (isSound(report) ? 'sound' : 'BROKEN') },
];

async function audit(session: CommandSession, table: string | undefined): Promise<number> {
  const app = await session.app();
  const reports = await app.audit(session.context(), table);
  const { terminal } = session;
  await writeRows(terminal, reports, {
    columns,
    json: (report) => ({
      table: report.table,
      versions: report.versions,
      records: report.records,
      rows: report.rows,
      deadLettered: report.deadLettered,
      filtered: report.filtered,
      sound: isSound(report),
      findings: report.findings.map(({ severity, message }) => ({ severity, message })),
    }),
    empty: 'the configuration has no tables',
  });
  if (!terminal.json) {
    for (const finding of reports.flatMap(({ findings }) => findings)) {
      const severity = paint(finding.severity, finding.severity === 'error' ? 'red' : 'yellow', terminal.colour);
      await terminal.out(`${severity} ${finding.table}: ${finding.message}\n`);
    }
  }
  return reports.every(isSound) ? exitCodes.ok : exitCodes.dataProblem;
}

function isSound({ findings }: AuditReport): boolean {
  return findings.every(({ severity }) => severity !== 'error');
}
