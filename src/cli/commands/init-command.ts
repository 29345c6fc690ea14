import { type Command, Option } from 'commander';
import { type CommandSession, usageError, wholeNumber } from '../command-session.ts';
import { exitCodes } from '../exit-code.ts';
import type { AddCommand } from './add-command.ts';

interface InitFlags {
  readonly brokers?: string | undefined;
  readonly registry?: string | undefined;
  readonly table?: string | undefined;
  readonly tableFormat: 'delta' | 'iceberg';
  readonly records?: number | undefined;
  readonly wholeEvents?: boolean | undefined;
}

const defaultRecords = 1_000;

export function addInitCommand(program: Command, add: AddCommand): void {
  const command = program
    .command('init')
    .description('look at a topic and print the configuration of a pipeline for it: format, columns, and what was found in comments')
    .argument('<topic>')
    .option('--brokers <host:port,...>', 'bootstrap servers (default: kafka.brokers of a configuration)')
    .option('--registry <url>', 'registry that has the schemas of payloads (default: schemaRegistry.url of a configuration)')
    .option('--table <name>', 'name of the table (default: the topic, with underscores for what is no letter or digit)')
    .addOption(new Option('--table-format <format>', 'format of the table').choices(['delta', 'iceberg']).default('delta'))
    .option('--records <count>', `newest records to look at (default: ${defaultRecords})`, wholeNumber(1))
    .option('--whole-events', 'columns for the members of change events (before, after, source, op), not for those of their rows');
  add<InitFlags & { readonly [flag: string]: unknown }>(command, (session, flags, args) => init(session, flags, args[0] ?? ''));
}

async function init(session: CommandSession, flags: InitFlags, topic: string): Promise<number> {
  const table = flags.table ?? topic.replaceAll(/[^A-Za-z0-9_]/gu, '_');
  const context = session.contextWith([
    'pipeline=init',
    ...(flags.brokers === undefined ? [] : [`kafka.brokers=${flags.brokers}`]),
    ...(flags.registry === undefined ? [] : [`schemaRegistry.url=${flags.registry}`]),
  ]);
  if (context.loaded.config.kafka.brokers.length === 0)
    throw usageError('init looks at a topic of a broker, and none is named', `tidewater init ${topic} --brokers localhost:9092`);
  const app = await session.app();
  const yaml = await app.init(context, {
    topic,
    table,
    format: flags.tableFormat,
    records: flags.records ?? defaultRecords,
    wholeEvents: flags.wholeEvents ?? false,
  });
  await session.terminal.out(yaml);
  return exitCodes.ok;
}
