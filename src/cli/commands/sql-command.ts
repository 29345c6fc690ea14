import { type Command, Option } from 'commander';
import type { CommandSession } from '../command-session.ts';
import type { SqlFlags, SqlInput } from '../sql/sql-flags.ts';
import type { AddCommand } from './add-command.ts';
import { confEntry } from './read-commands.ts';

const notes = `
Without -e and -f it reads statements from standard input, or talks to you when that is a terminal (\\h there lists what it knows).
The catalogs of a configuration are there when --config or TIDEWATER_CONFIG names it, and its tables with the records behind them: live.<table>.
Statements end with a semicolon; the last one needs none. The first error ends a script. The dialect is Spark's:
docs/reference/sql-dialect.md.

Examples:
  tidewater sql -e "SELECT count(*) FROM delta.\`/lake/orders\`"
  tidewater -c tidewater.yaml sql -e "SELECT * FROM lake.shop.orders.snapshots"
  tidewater sql --format csv -f report.sql > report.csv
  tidewater sql --warehouse /lake --database shop`;

export function addSqlCommand(program: Command, add: AddCommand): void {
  const inputs: SqlInput[] = [];
  const input =
    (kind: SqlInput['kind']) =>
    (value: string): readonly SqlInput[] => {
      inputs.push({ kind, value });
      return inputs;
    };
  const command = program
    .command('sql')
    .description('execute SQL on Delta and Iceberg tables and on files: one statement, a script, or a shell')
    .option('-e, --execute <text>', 'statements to execute; may be repeated and mixed with -f, in this order', input('text'))
    .option('-f, --file <path>', 'a file of statements; - is standard input', input('file'))
    .addOption(
      new Option('--format <format>', 'how results are printed (default: table, or json with --json)').choices(['table', 'json', 'csv']),
    )
    .option('--conf <key=value>', 'configuration of the session, such as spark.databricks.delta.…; may be repeated', confEntry)
    .option('--warehouse <dir>', 'where tables without a location are (default: ./spark-warehouse)')
    .option('--database <name>', 'the current database at the beginning')
    .option('--timing', 'tell how long each statement takes, on standard error')
    .addHelpText('after', notes);
  add<SqlFlags>(command, (session, flags) => runSql(session, flags, inputs));
}

async function runSql(session: CommandSession, flags: SqlFlags, inputs: readonly SqlInput[]): Promise<number> {
  // Most commands need nothing of it.
  const { executeSql } = await import('../sql/execute-sql.ts');
  return executeSql(session, flags, inputs);
}
