import { Command, CommanderError, type OptionValues } from 'commander';
import { type CliEnvironment, CommandSession, collect, terminalOf } from './command-session.ts';
import type { AddCommand, RunCommand } from './commands/add-command.ts';
import { addAuditCommand } from './commands/audit-command.ts';
import { addChangesCommand } from './commands/changes-command.ts';
import { addConfigCommand } from './commands/config-command.ts';
import { addDeadLetterCommands } from './commands/dlq-commands.ts';
import { addFeedCommands } from './commands/feeds-command.ts';
import { addFreshnessCommand } from './commands/freshness-command.ts';
import { addInitCommand } from './commands/init-command.ts';
import { addMaintainCommand } from './commands/maintain-command.ts';
import { addServeCommand } from './commands/serve-command.ts';
import { addSqlCommand } from './commands/sql-command.ts';
import { addTableCommands } from './commands/table-commands.ts';
import { exitCodes } from './exit-code.ts';
import { printError } from './print-error.ts';

const footer = `
Exit codes: 0 done, 1 failure, 2 wrong usage or configuration, 3 conflict with another writer, 4 the data needs a person, 5 not yet there (freshness).
Environment: TIDEWATER_CONFIG (files), TIDEWATER__a__b=value (override a.b), NO_COLOR.`;

/** Runs one command line (without node and script) to its exit code. Never throws. */
export async function runCli(args: readonly string[], environment: CliEnvironment): Promise<number> {
  const json = args.includes('--json');
  let pending = Promise.resolve();
  let code: number = exitCodes.ok;
  const write = (stream: (text: string) => Promise<void>, text: string): void => {
    pending = pending.then(() => stream(text));
  };
  const program = buildProgram(args, environment, (result) => {
    code = result;
  });
  configureOutput(program, {
    out: (text) => {
      write(environment.out, text);
    },
    err: (text) => {
      write(environment.err, text);
    },
  });
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    // Help and version end this way too, with code 0; commander has printed what there is to say.
    code =
      error instanceof CommanderError
        ? error.exitCode === 0
          ? exitCodes.ok
          : exitCodes.usage
        : await printError(error, terminalOf(environment, json));
  }
  await pending;
  return code;
}

function buildProgram(args: readonly string[], environment: CliEnvironment, done: (code: number) => void): Command {
  const program = new Command('tidewater')
    .description('Kafka topics to Delta Lake and Apache Iceberg tables and back again as change feeds, exactly once both ways.')
    .option(
      '-c, --config <file>',
      'configuration file; may be repeated, later ones win (default: $TIDEWATER_CONFIG or tidewater.yaml)',
      collect,
    )
    .option('-s, --set <path=value>', 'override a setting; may be repeated', collect)
    .option('--json', 'machine-readable output: one JSON object a line')
    .showHelpAfterError('(tidewater --help shows what there is)')
    .addHelpText('after', footer);
  // Behind a command `--version` is that of a table.
  if (args.every((arg) => arg.startsWith('-'))) program.version(environment.version);
  const add: AddCommand = <Flags extends OptionValues>(command: Command, run: RunCommand<Flags>) => {
    command.action(async () => {
      done(
        await run(
          new CommandSession(command, environment),
          // An option that a command shares with the one it is a subcommand of is found at either.
          command.optsWithGlobals<Flags>(),
          command.processedArgs.flat().filter((arg) => typeof arg === 'string'),
        ),
      );
    });
  };
  addServeCommand(program, add);
  addInitCommand(program, add);
  addTableCommands(program, add);
  addChangesCommand(program, add);
  addFreshnessCommand(program, add);
  addSqlCommand(program, add);
  addMaintainCommand(program, add);
  addAuditCommand(program, add);
  addFeedCommands(program, add);
  addDeadLetterCommands(program, add);
  addConfigCommand(program, add);
  return program;
}

function configureOutput(command: Command, output: { readonly out: (text: string) => void; readonly err: (text: string) => void }): void {
  command.exitOverride().configureOutput({ writeOut: output.out, writeErr: output.err });
  for (const child of command.commands) configureOutput(child, output);
}
