import type { Command } from 'commander';
import type { HistoryRow, OffsetRow, TableDescription, TableSummary } from '../../app/app-commands.ts';
import { factsJson, type JsonObject } from '../../base/json-value.ts';
import { printableLine } from '../../base/printable.ts';
import { type CommandSession, wholeNumber } from '../command-session.ts';
import { bytesText, countText, orAbsent, timeText } from '../display-text.ts';
import { exitCodes } from '../exit-code.ts';
import { isPath } from '../named-table.ts';
import { alignedTable, type Column, paint, writeRows } from '../terminal.ts';
import type { AddCommand } from './add-command.ts';
import { addReadCommands, canonicalFlag, placeFlags, type ReadFlags, readTable } from './read-commands.ts';

const defaultHistoryLimit = 20;

export function addTableCommands(program: Command, add: AddCommand): void {
  add(program.command('tables').description('the tables of the pipeline and what they hold'), (session) => tables(session));
  add(
    program.command('describe').description('one table: columns, properties, health, progress').argument('<table>'),
    (session, _flags, args) => describe(session, args[0] ?? ''),
  );
  const history = program
    .command('history')
    .description('the versions of a table, newest first')
    .argument('<table>')
    .option('--limit <versions>', `versions to show (default: ${defaultHistoryLimit}; all with --canonical or of a path)`, wholeNumber(1));
  add<ReadFlags>(canonicalFlag(placeFlags(history)), (session, flags, args) => {
    const table = args[0] ?? '';
    if (flags.canonical === true || isPath(table) || isOfCatalog(session, flags, table)) return readTable(session, 'history', flags, table);
    return showHistory(session, table, flags.limit ?? defaultHistoryLimit);
  });
  addReadCommands(program, add);
  add(program.command('offsets').description('where the tables stand in their topics'), (session) => offsets(session));
}

/** Not of the pipeline: its history is told as that of a path. */
function isOfCatalog(session: CommandSession, flags: ReadFlags, table: string): boolean {
  if (flags.conf !== undefined) return true;
  const { tables, catalogs } = session.loadConfig().config;
  return tables.every(({ name }) => name !== table) && catalogs.some(({ name }) => table.startsWith(`${name}.`));
}

const summaryColumns: readonly Column<TableSummary>[] = [
  { title: 'TABLE', text: ({ name }) => name },
  { title: 'FORMAT', text: ({ format }) => format },
  { title: 'VERSION', text: ({ version }) => orAbsent(version), align: 'right' },
  { title: 'ROWS', text: ({ rowCount }) => countText(rowCount), align: 'right' },
  { title: 'FILES', text: ({ fileCount }) => countText(fileCount), align: 'right' },
  { title: 'SIZE', text: ({ sizeBytes }) => bytesText(sizeBytes), align: 'right' },
  { title: 'COMMITTED', text: ({ committedAt }) => timeText(committedAt) },
  { title: 'LOCATION', text: ({ location }) => location },
];

async function tables(session: CommandSession): Promise<number> {
  const app = await session.app();
  const rows = await app.listTables(session.context());
  await writeRows(session.terminal, rows, { columns: summaryColumns, json: tableJson, empty: 'the configuration has no tables' });
  return exitCodes.ok;
}

function tableJson(table: TableSummary | TableDescription): JsonObject {
  return factsJson({ ...table, committedAt: isoTime(table.committedAt) });
}

async function describe(session: CommandSession, name: string): Promise<number> {
  const app = await session.app();
  const table = await app.describeTable(session.context(), name);
  const { terminal } = session;
  if (terminal.json) await writeRows(terminal, [table], { columns: [], json: tableJson, empty: '' });
  else await terminal.out(descriptionText(table, terminal.colour));
  return exitCodes.ok;
}

function descriptionText(table: TableDescription, colour: boolean): string {
  const facts: readonly (readonly [string, string])[] = [
    ['table', table.name],
    ['format', table.format],
    ['location', table.location],
    ['id', table.tableId],
    ['version', `${orAbsent(table.version)}, committed ${timeText(table.committedAt)}`],
    ['rows', countText(table.rowCount)],
    ['files', `${countText(table.fileCount)} (${countText(table.smallFileCount)} small), ${bytesText(table.sizeBytes)}`],
    ['tombstones', countText(table.tombstoneCount)],
    ['checkpoint', `${countText(table.versionsSinceCheckpoint)} versions ago`],
  ];
  const columns: readonly Column<TableDescription['columns'][number]>[] = [
    { title: 'COLUMN', text: ({ name }) => name },
    { title: 'TYPE', text: ({ type }) => type },
    { title: 'NULLS', text: ({ nullable }) => (nullable ? 'yes' : 'no') },
    { title: 'PARTITION', text: ({ partition }) => (partition ? 'yes' : '') },
  ];
  const properties = Object.entries(table.properties).map(([key, value]) => ({ key, value }));
  const sections = [
    facts.map(([label, value]) => `${paint(label.padEnd(11), 'bold', colour)} ${printableLine(value)}\n`).join(''),
    alignedTable(table.columns, columns, colour),
    properties.length === 0
      ? ''
      : alignedTable(
          properties,
          [
            { title: 'PROPERTY', text: ({ key }) => key },
            { title: 'VALUE', text: ({ value }) => value },
          ],
          colour,
        ),
    table.progress.length === 0
      ? ''
      : alignedTable(
          table.progress,
          [
            { title: 'PROGRESS OF', text: ({ writerId }) => writerId },
            { title: 'NEXT', text: ({ value }) => countText(value), align: 'right' },
          ],
          colour,
        ),
  ];
  return sections.filter((section) => section !== '').join('\n');
}

const historyColumns: readonly Column<HistoryRow>[] = [
  { title: 'VERSION', text: ({ version }) => String(version), align: 'right' },
  { title: 'COMMITTED', text: ({ committedAt }) => timeText(committedAt) },
  { title: 'OPERATION', text: ({ operation }) => operation },
  { title: 'ROWS ADDED', text: ({ addedRows, dataChange }) => (dataChange ? countText(addedRows) : 'none'), align: 'right' },
  { title: 'FILES', text: ({ addedFiles, removedFiles }) => `+${addedFiles} -${removedFiles}` },
  { title: 'ENGINE', text: ({ engineInfo }) => orAbsent(engineInfo) },
  { title: 'VALID THROUGH', text: ({ validThrough }) => timeText(validThrough) },
  { title: 'SOURCES', text: ({ sources }) => sources.join(' ') },
];

async function showHistory(session: CommandSession, table: string, limit: number): Promise<number> {
  const app = await session.app();
  const rows = await app.history(session.context(), { table, limit });
  await writeRows(session.terminal, rows, {
    columns: historyColumns,
    json: (row) => factsJson({ ...row, committedAt: isoTime(row.committedAt), validThrough: isoTime(row.validThrough) }),
    empty: 'the table has no versions',
  });
  return exitCodes.ok;
}

const offsetColumns: readonly Column<OffsetRow>[] = [
  { title: 'TABLE', text: ({ table }) => table },
  { title: 'TOPIC', text: ({ topic }) => topic },
  { title: 'PARTITION', text: ({ partition }) => String(partition), align: 'right' },
  { title: 'TABLE NEXT', text: ({ tableOffset }) => orAbsent(tableOffset), align: 'right' },
  { title: 'GROUP NEXT', text: ({ groupOffset }) => orAbsent(groupOffset), align: 'right' },
  { title: 'EARLIEST', text: ({ earliest }) => orAbsent(earliest), align: 'right' },
  { title: 'END', text: ({ end }) => orAbsent(end), align: 'right' },
  { title: 'LAG', text: (row) => countText(lagOf(row)), align: 'right' },
];

async function offsets(session: CommandSession): Promise<number> {
  const app = await session.app();
  const rows = await app.offsets(session.context());
  await writeRows(session.terminal, rows, {
    columns: offsetColumns,
    json: (row) => factsJson({ ...row, lag: lagOf(row) }),
    empty: 'no topic is routed to a table, or none exists yet',
  });
  return exitCodes.ok;
}

/** Records between the table and the end of the partition. */
function lagOf({ tableOffset, earliest, end }: OffsetRow): bigint | undefined {
  const next = tableOffset ?? earliest;
  return next === undefined || end === undefined ? undefined : end - next;
}

function isoTime(epochMs: number | undefined): string | null {
  return epochMs === undefined ? null : new Date(epochMs).toISOString();
}
