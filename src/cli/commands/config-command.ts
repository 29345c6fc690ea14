import type { Command } from 'commander';
import { processMemory } from '../../app/process-memory.ts';
import { type JsonValue, printJson } from '../../base/bigint-json.ts';
import { explainConfig, printConfig, redactConfig, type SettingExplanation } from '../../config/explain-config.ts';
import { printConfigSchema } from '../../config/json-schema.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import type { CommandSession } from '../command-session.ts';
import { exitCodes } from '../exit-code.ts';
import { type Column, writeRows } from '../terminal.ts';
import type { AddCommand } from './add-command.ts';
import { addMigrateCommand } from './migrate-command.ts';

export function addConfigCommand(program: Command, add: AddCommand): void {
  const config = program.command('config').description('the configuration');
  const print = config
    .command('print')
    .description('the settings in effect, defaults filled in, secrets masked')
    .option('--explain', 'with the place each value comes from');
  add<{ readonly explain?: boolean | undefined }>(print, (session, flags) => printSettings(session, flags.explain === true));
  const check = config
    .command('validate')
    .description('check the configuration, without connecting to anything unless told to')
    .option('--connect', 'ask the schema registry too whether it takes the schemas of the feeds; nothing is registered');
  add<{ readonly connect?: boolean | undefined }>(check, (session, flags) => validate(session, flags.connect === true));
  add(config.command('schema').description('the JSON Schema of the configuration file'), (session) => schema(session));
  addMigrateCommand(config, add);
}

const bytesPerMebibyte = 1024 * 1024;

const explanationColumns: readonly Column<SettingExplanation>[] = [
  { title: 'SETTING', text: ({ path }) => path },
  { title: 'VALUE', text: ({ value }) => (typeof value === 'string' ? value : printJson(value)) },
  { title: 'SOURCE', text: ({ source }) => source },
];

async function printSettings(session: CommandSession, explain: boolean): Promise<number> {
  const loaded = session.loadConfig();
  const { terminal } = session;
  const derived = derivedMemory(loaded);
  if (explain) {
    const settings = explainConfig(loaded);
    const at = settings.findIndex(({ path }) => path.startsWith('ingest.'));
    await writeRows(terminal, settings.toSpliced(at, 0, ...derived), {
      columns: explanationColumns,
      json: ({ path, value, source }): JsonValue => ({ path, value, source }),
      empty: '',
    });
  } else {
    const notes = derived.map(({ path, value, source }) => `# ${path}: ${value}, ${source}\n`).join('');
    await terminal.out(terminal.json ? `${printJson(redactConfig(loaded))}\n` : `${printConfig(loaded)}${notes}`);
  }
  return exitCodes.ok;
}

/** The memory of a process of this machine whose configuration does not say it. */
function derivedMemory({ config }: LoadedConfig): readonly (SettingExplanation & { readonly value: string })[] {
  if (config.ingest.memory !== undefined || config.ingest.routes.length === 0) return [];
  const memory = processMemory(config, 'all', 0);
  if (memory?.of === undefined) return [];
  const value = `${Math.floor(memory.bytes / bytesPerMebibyte)}MiB`;
  return [{ path: 'ingest.memory', value, source: `${memory.of} here`, description: undefined }];
}

async function validate(session: CommandSession, connects: boolean): Promise<number> {
  const { config } = session.loadConfig();
  const schemas = connects ? await (await session.app()).checkFeedSchemas(session.context()) : [];
  const refused = schemas.filter(({ problem }) => problem !== undefined);
  const facts = {
    pipeline: config.pipeline,
    tables: config.tables.length,
    routes: config.ingest.routes.length,
    feeds: config.feeds.length,
  };
  const text = `valid: pipeline "${facts.pipeline}", ${facts.tables} tables, ${facts.routes} routes, ${facts.feeds} feeds\n`;
  const valid = refused.length === 0;
  const told = {
    valid,
    ...facts,
    ...(connects ? { schemas: schemas.map(({ feed, subject, problem = null }) => ({ feed, subject, problem })) } : {}),
  };
  const asked = schemas
    .map(({ feed, subject, problem }) => `schema of feed "${feed}", subject "${subject}": ${problem ?? 'taken'}\n`)
    .join('');
  await session.terminal.out(session.terminal.json ? `${printJson(told)}\n` : `${asked}${valid ? text : ''}`);
  return valid ? exitCodes.ok : exitCodes.failure;
}

async function schema(session: CommandSession): Promise<number> {
  await session.terminal.out(printConfigSchema());
  return exitCodes.ok;
}
