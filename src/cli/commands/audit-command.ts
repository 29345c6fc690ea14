import { type Command, InvalidArgumentError } from 'commander';
import type { AuditReport, AuditRequest } from '../../app/app-commands.ts';
import { factsJson, type JsonValue } from '../../base/json-value.ts';
import { madeTable } from '../../config/made-table.ts';
import type { Config } from '../../config/settings.ts';
import { sourcesInTable } from '../../config/sources-in-table.ts';
import type { TableSettings } from '../../config/table-settings.ts';
import type { TransformSettings } from '../../ingest/transform/transform-settings.ts';
import type { CommandSession } from '../command-session.ts';
import { countText, timeText } from '../display-text.ts';
import { exitCodes } from '../exit-code.ts';
import { isPath, namedTable } from '../named-table.ts';
import { type Column, paint, type Style, writeRows } from '../terminal.ts';
import type { AddCommand } from './add-command.ts';
import { absolutePlaces, placeFlags, type ReadFlags } from './read-commands.ts';

type AuditFlags = Pick<ReadFlags, 'pathMap' | 'pathBase' | 'conf'> & {
  readonly files?: boolean | undefined;
  readonly rows?: boolean | undefined;
  readonly sourceColumns?: AuditRequest['columns'];
};

export function addAuditCommand(program: Command, add: AddCommand): void {
  const command = program
    .command('audit')
    .description('prove from tables alone what they promise, and say what was checked and what was not')
    .argument('[table]', 'name in the configuration or in a catalog; or a path (default: all tables of the configuration)')
    .option('--files', 'besides the log: every live file is there, whole, and holds the rows the log says')
    .option('--rows', 'besides log and files: every source offset is there once')
    .option(
      '--source-columns <columns>',
      'columns with the source of a row, such as offset=_offset,partition=_partition,topic=_topic (default: as configured)',
      sourceColumns,
    );
  add<AuditFlags>(placeFlags(command), (session, flags, args) => audit(session, flags, args[0]));
}

const columns: readonly Column<AuditReport>[] = [
  { title: 'TABLE', text: ({ table }) => table },
  { title: 'VERSIONS', text: ({ versions }) => countText(versions), align: 'right' },
  { title: 'RECORDS', text: ({ records }) => countText(records), align: 'right' },
  { title: 'ROWS', text: ({ rows }) => countText(rows), align: 'right' },
  { title: 'DEAD LETTERS', text: ({ deadLettered }) => countText(deadLettered), align: 'right' },
  { title: 'FILTERED', text: ({ filtered }) => countText(filtered), align: 'right' },
  { title: 'VERDICT', text: ({ verdict }) => (verdict === 'broken' ? 'BROKEN' : verdict) },
];

async function audit(session: CommandSession, flags: AuditFlags, table: string | undefined): Promise<number> {
  const app = await session.app();
  const { terminal, environment } = session;
  // A path, or a name in a catalog that flags describe, needs no configuration.
  const isKnown = table === undefined || (flags.conf === undefined && !isPath(table));
  const config = isKnown ? session.loadConfig().config : undefined;
  const configured = config?.tables ?? [];
  const names = table === undefined ? await allNames(session, config) : [table];
  const reports: AuditReport[] = [];
  for (const name of names) {
    const made = config === undefined ? undefined : madeTable(config, name);
    const settings = configured.find((candidate) => candidate.name === name) ?? made?.settings;
    reports.push(
      await app.audit({
        ...namedTable(session, name, flags.conf),
        ...absolutePlaces(session, flags),
        level: flags.rows === true ? 'rows' : flags.files === true ? 'files' : 'log',
        columns:
          flags.sourceColumns ??
          sourceColumnsOf(settings, config?.ingest.routes.find(({ table: routed }) => routed === name) ?? made?.route),
        signal: environment.signal,
      }),
    );
  }
  await writeRows(terminal, reports, { columns, json: jsonOf, empty: 'the configuration has no tables' });
  if (!terminal.json) for (const report of reports) await terminal.out(textOf(report, terminal.colour));
  return reports.some(({ verdict }) => verdict === 'broken') ? exitCodes.dataProblem : exitCodes.ok;
}

/** Of the configuration, and of what its templates have made, which the tables themselves say; those alone that records come into. */
async function allNames(session: CommandSession, config: Config | undefined): Promise<readonly string[]> {
  const tombstones = new Set(config?.tables.flatMap(({ name, tombstonesOf }) => (tombstonesOf === undefined ? [] : [name])));
  return (await tableNames(session, config)).filter((name) => !tombstones.has(name));
}

async function tableNames(session: CommandSession, config: Config | undefined): Promise<readonly string[]> {
  const listed = config?.tables.map(({ name }) => name) ?? [];
  if (config?.ingest.routes.every(({ divided }) => divided?.spec.template === undefined) !== false) return listed;
  const app = await session.app();
  return (await app.listTables(session.context())).map(({ name }) => name);
}

/** The columns that the configuration fills with the source of a record; what a route computes is not known to be one. */
function sourceColumnsOf(settings: TableSettings | undefined, route: TransformSettings = {}): AuditRequest['columns'] {
  const sources = settings === undefined ? [] : sourcesInTable(settings, route);
  const filledBy = (kind: string): string | undefined => sources.find(([, source]) => source.kind === kind)?.[0];
  const offset = filledBy('offset');
  return offset === undefined ? undefined : { offset, partition: filledBy('partition'), topic: filledBy('topic') };
}

function sourceColumns(text: string): AuditRequest['columns'] {
  const named = new Map(
    text.split(',').map((entry) => [entry.slice(0, entry.indexOf('=')).trim(), entry.slice(entry.indexOf('=') + 1).trim()]),
  );
  const offset = named.get('offset');
  const known = [...named].every(([part, column]) => ['offset', 'partition', 'topic'].includes(part) && column !== '');
  if (offset !== undefined && known) return { offset, partition: named.get('partition'), topic: named.get('topic') };
  throw new InvalidArgumentError('expected offset=<column>, and partition=<column> and topic=<column> where the table has them');
}

function jsonOf(report: AuditReport): JsonValue {
  const { table, level, verdict, versions, records, rows, deadLettered, replayed, filtered, proven, ranges, foreign } = report;
  return factsJson({
    ...{ table, level, verdict, sound: verdict === 'sound', versions, records, rows, deadLettered, replayed, filtered },
    proven: {
      ...{ fromVersion: proven.from, untilVersion: proven.until, complete: proven.complete },
      offsets: ranges.map(({ pipeline, topic, partition, from, until }) => ({ pipeline, topic, partition, from, until })),
    },
    checked: report.checked,
    notChecked: report.unchecked,
    changesByOthers: foreign.map(({ version, committedAt, operation, engine, netRows, addedFiles, removedFiles }) => ({
      ...{ version, committedAt: new Date(committedAt).toISOString(), operation, engine, rows: netRows, addedFiles, removedFiles },
    })),
    changesByOthersCount: report.foreignCount,
    findings: report.findings.map(({ level: severity, version, rule, text }) => ({ severity, version, rule, message: text })),
    findingsNotTold: report.untoldFindings,
  });
}

const styles: Readonly<Record<AuditReport['findings'][number]['level'], Style>> = { error: 'red', warning: 'yellow', note: 'faint' };

function textOf(report: AuditReport, colour: boolean): string {
  const { table, proven, ranges, foreign, foreignCount } = report;
  const offsets = ranges.map(({ topic, partition, from, until }) => `${topic}:${partition} [${from}, ${until})`).join(', ');
  const history = proven.complete ? 'the whole history' : 'what the history still has';
  const lines = [
    `proven: versions ${proven.from ?? proven.until} to ${proven.until}, ${history}${offsets === '' ? '' : `: ${offsets}`}`,
    ...report.checked.map((text) => `checked ${text}`),
    ...report.unchecked.map((text) => `not checked ${text}`),
    ...foreign.map(
      ({ version, committedAt, operation, engine, netRows }) =>
        `changed by others: version ${version}, ${timeText(committedAt)}, ${operation} by ${engine ?? 'an unnamed engine'}, ${rowsText(netRows)}`,
    ),
    ...(foreignCount > foreign.length ? [`changed by others: ${foreignCount - foreign.length} more versions`] : []),
  ];
  const findings = report.findings.map(({ level, version, rule, text }) => {
    const place = version === undefined ? rule : `version ${version}, ${rule}`;
    return `${paint(level, styles[level], colour)} ${table}: ${place}: ${text}\n`;
  });
  const more = report.untoldFindings === 0 ? '' : `${report.untoldFindings} more findings\n`;
  return `${lines.map((line) => `${table}: ${line}\n`).join('')}${findings.join('')}${more}`;
}

function rowsText(netRows: number | undefined): string {
  if (netRows === undefined) return 'rows unknown';
  return `${netRows > 0 ? '+' : ''}${netRows} rows`;
}
