import { type Command, Option } from 'commander';
import type { Role } from '../../app/app-commands.ts';
import { type CommandSession, usageError, wholeNumber } from '../command-session.ts';
import type { AddCommand } from './add-command.ts';

interface ServeFlags {
  readonly role: Role;
  readonly demo?: boolean | undefined;
  readonly once?: boolean | undefined;
  readonly rate?: number | undefined;
}

export function addServeCommand(program: Command, add: AddCommand): void {
  const command = program
    .command('serve')
    .description('run the pipeline until it is told to stop (SIGINT, SIGTERM), then finish what is under way')
    .addOption(new Option('--role <role>', 'what this process runs').choices(['all', 'ingest', 'cdf', 'maintenance']).default('all'))
    .option('--demo', 'replay the sample data into the topic')
    .option('--once', 'with --demo: replay, wait until all is committed and published, print a summary, end')
    .option('--rate <records>', 'with --demo: records a second', wholeNumber(1));
  add<ServeFlags>(command, (session, flags) => serve(session, flags));
}

async function serve(session: CommandSession, flags: ServeFlags): Promise<number> {
  const demo = flags.demo === true;
  const once = flags.once === true;
  if (!demo && (once || flags.rate !== undefined)) throw usageError('--once and --rate need --demo');
  if (demo && flags.role !== 'all') throw usageError(`--demo runs everything in one process, not --role ${flags.role}`);
  const context = session.context();
  const app = await session.app();
  return app.serve(context, { role: flags.role, demo, once, rate: flags.rate, json: session.terminal.json });
}
