import { resolve } from 'node:path';
import type { Command } from 'commander';
import { isServiceError, serviceError } from '../../base/errors.ts';
import { migrateConnector } from '../../config/migrate/migrate-connector.ts';
import { parseOffsets } from '../../config/migrate/sink-offsets.ts';
import type { PlannedColumn } from '../../config/migrate/sink-plan.ts';
import { parseColumnType } from '../../expr/parse/column-type.ts';
import { type CommandSession, usageError } from '../command-session.ts';
import { exitCodes } from '../exit-code.ts';
import type { AddCommand } from './add-command.ts';

interface MigrateFlags {
  readonly brokers?: string | undefined;
  readonly columns?: string | undefined;
  readonly offsets?: string | undefined;
}

export function addMigrateCommand(config: Command, add: AddCommand): void {
  const command = config
    .command('migrate')
    .description(
      'print the configuration of a pipeline that does what a sink of Kafka Connect does (Iceberg, Delta Lake), or kafka-delta-ingest',
    )
    .argument(
      '<file>',
      'configuration of the connector: JSON with name and config, its options alone, or a properties file; or a command line of kafka-delta-ingest',
    )
    .option('--brokers <host:port,...>', 'bootstrap servers, which connectors mostly leave to their worker')
    .option(
      '--columns <name:type,...>',
      'what the records hold, as of a struct: id:long,name:string; with them transforms are translated to the end',
    )
    .option('--offsets <topic:partition:offset,...>', 'how far the sink is, by its consumer group: records before are left out');
  add<MigrateFlags & { readonly [flag: string]: unknown }>(command, (session, flags, args) => migrate(session, flags, args[0] ?? ''));
}

async function migrate({ environment, terminal }: CommandSession, flags: MigrateFlags, file: string): Promise<number> {
  const { readText, workingDir } = environment;
  const brokers = flags.brokers
    ?.split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
  const offsets = flags.offsets === undefined ? undefined : parseOffsets(flags.offsets);
  if (offsets === undefined && flags.offsets !== undefined)
    throw usageError(`--offsets: "${flags.offsets}" is no list of offsets`, '--offsets orders:0:1234,orders:1:99');
  const columns = flags.columns === undefined ? undefined : columnsOf(flags.columns);
  await terminal.out(
    migrateConnector({ text: textOf(file, (path) => readText(resolve(workingDir, path))), where: file, brokers, columns, offsets }),
  );
  return exitCodes.ok;
}

function textOf(file: string, readText: (path: string) => string): string {
  try {
    return readText(file);
  } catch (cause) {
    throw serviceError.invalid(
      'CONFIG_CONNECTOR_INVALID',
      `${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`,
      { hint: 'name the file that has the configuration of the connector', cause },
    );
  }
}

function columnsOf(text: string): readonly PlannedColumn[] {
  try {
    const type = parseColumnType(`struct<${text}>`);
    if (type.kind === 'struct') return type.fields.map(({ name, type: of, nullable }) => ({ name, type: of, required: !nullable }));
  } catch (error) {
    if (!isServiceError(error, 'invalid')) throw error;
    throw usageError(`--columns: ${error.message}`, error.hint ?? '--columns id:long,name:string');
  }
  throw usageError(`--columns: "${text}" is no list of columns`, '--columns id:long,name:string');
}
