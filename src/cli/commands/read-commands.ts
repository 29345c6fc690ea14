import { resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import type { ReadTableRequest } from '../../app/app-commands.ts';
import { printableLine } from '../../base/printable.ts';
import { type CommandSession, collect, usageError, wholeNumber } from '../command-session.ts';
import { exitCodes } from '../exit-code.ts';
import { isUri, namedTable } from '../named-table.ts';
import type { AddCommand } from './add-command.ts';

/** Each flag is the part of the request that has its name. */
export type ReadFlags = Partial<Omit<ReadTableRequest, 'what' | 'name' | 'location' | 'inCatalog' | 'signal'>> & {
  /** Of a session with catalogs. */
  readonly conf?: readonly string[] | undefined;
};

type PathMapping = NonNullable<ReadTableRequest['pathMap']>[number];

const tableArgument =
  'name in the configuration or in a catalog of it (catalog.namespace.table); or a path (with a slash) or URI of any Delta or Iceberg table, or of an Iceberg metadata file';

/** `rows`, `schema` and what `changes` does without a subcommand: what a table holds, as lines of JSON. */
export function addReadCommands(program: Command, add: AddCommand): void {
  const rows = program.command('rows').description('the rows of a table, one JSON object a line').argument('<table>', tableArgument);
  add<ReadFlags>(rowFlags(versionFlags(placeFlags(rows))), (session, flags, args) => readTable(session, 'rows', flags, args[0] ?? ''));
  const schema = program.command('schema').description('the columns of a table, one JSON object a line').argument('<table>', tableArgument);
  add<ReadFlags>(canonicalFlag(versionFlags(placeFlags(schema))), (session, flags, args) =>
    readTable(session, 'schema', flags, args[0] ?? ''),
  );
}

/** `changes <table>`: the command that `tail` is a subcommand of. */
export function addReadChanges(changes: Command, add: AddCommand): void {
  const read = changes
    .argument('[table]', tableArgument)
    .option('--from <version>', 'first version (default: 0)', wholeNumber(0))
    .option('--to <version>', 'last version, included (default: the newest)', wholeNumber(0))
    .option('--from-snapshot <id>', 'of an Iceberg table: after this snapshot (default: from the first)', snapshotId)
    .option('--to-snapshot <id>', 'of an Iceberg table: until and with this snapshot (default: the newest)', snapshotId)
    .option('--identifier-columns <names>', 'of an Iceberg table: a delete and an insert of one identifier are an update', columnNames)
    .option('--net', 'of an Iceberg table: leave out what the range undoes');
  add<ReadFlags>(rowFlags(placeFlags(read)), (session, flags, args) => {
    if (args[0] === undefined)
      throw usageError('changes of which table?', 'write: tidewater changes <table>, or tidewater changes tail <table>');
    return readTable(session, 'changes', flags, args[0]);
  });
}

/** Prints what is asked for of a table. */
export async function readTable(session: CommandSession, what: ReadTableRequest['what'], flags: ReadFlags, table: string): Promise<number> {
  const app = await session.app();
  const { environment, terminal } = session;
  const { conf, ...asked } = flags;
  const named = namedTable(session, table, conf);
  if (named.inCatalog !== undefined && (flags.pathMap !== undefined || flags.pathBase !== undefined)) {
    throw usageError(
      '--path-map and --path-base are for tables by path',
      `"${table}" is a name in a catalog, which knows where its files are`,
    );
  }
  const options = { ...asked, canonical: flags.canonical === true, ...absolutePlaces(session, flags), signal: environment.signal };
  // JSON takes the escapes for what they stand for; a program reads the text as it is.
  const shown = environment.outIsTerminal ? printableLine : (line: string): string => line;
  await app.readTable({ ...named, ...options, what }, (line) => terminal.out(`${shown(line)}\n`));
  return exitCodes.ok;
}

/** The flags of `placeFlags` as the application takes them. */
export function absolutePlaces(
  { environment }: CommandSession,
  { pathMap, pathBase }: Pick<ReadFlags, 'pathMap' | 'pathBase'>,
): Pick<ReadTableRequest, 'pathMap' | 'pathBase'> {
  // A slash at the end says that names follow, and stays.
  const absolute = (place: string): string =>
    isUri(place) ? place : resolve(environment.workingDir, place) + (place.endsWith('/') && place !== '/' ? '/' : '');
  return {
    pathMap: pathMap?.map((mapping) => ({ from: mapping.from, to: absolute(mapping.to) })),
    pathBase: pathBase === undefined ? undefined : absolute(pathBase),
  };
}

function versionFlags(command: Command): Command {
  return command
    .option('--version <version>', 'as of this version (default: the newest)', wholeNumber(0))
    .option('--timestamp <time>', 'as of this time, such as "2024-05-01 10:00:00", in UTC unless it has an offset')
    .option('--snapshot-id <id>', 'as of this snapshot of an Iceberg table', snapshotId)
    .option('--ref <name>', 'as this branch or tag of an Iceberg table has it');
}

/** For Iceberg tables that lie elsewhere than where they were written. */
export function placeFlags(command: Command): Command {
  return command
    .option(
      '--path-map <from=to>',
      'read files recorded below FROM from below TO (may be given several times; the first that fits)',
      pathMapping,
    )
    .option('--path-base <dir>', 'directory that relative paths in the metadata are in')
    .option(
      '--conf <key=value>',
      'configuration of a session with the catalog that the name begins with, such as spark.sql.catalog.lake.type=rest; may be repeated',
      confEntry,
    );
}

/** For commander: an entry of a session's configuration. */
export function confEntry(value: string, before: readonly string[] | undefined): readonly string[] {
  if (!/^[^=\s]+=/.test(value)) throw new InvalidArgumentError('expected key=value');
  return collect(value, before);
}

function snapshotId(text: string): bigint {
  if (/^\d{1,19}$/.test(text)) return BigInt(text);
  throw new InvalidArgumentError('expected the id of a snapshot; tidewater history lists them');
}

function columnNames(text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  if (names.every((name) => name !== '')) return names;
  throw new InvalidArgumentError('expected names of columns, separated by commas');
}

function pathMapping(text: string, before: readonly PathMapping[] = []): readonly PathMapping[] {
  const at = text.indexOf('=');
  if (at <= 0) throw new InvalidArgumentError('expected FROM=TO: the recorded prefix, and where the files are');
  return [...before, { from: text.slice(0, at), to: text.slice(at + 1) }];
}

function rowFlags(command: Command): Command {
  return canonicalFlag(
    command
      .option('--filter <condition>', 'only rows of this condition, in SQL')
      .option('--limit <rows>', 'rows to print at most', wholeNumber(1)),
  );
}

/** The form other programs print too, to be compared as text. */
export function canonicalFlag(command: Command): Command {
  return command.option('--canonical', 'RFC 8785 JSON, rows sorted by their bytes');
}
