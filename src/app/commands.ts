import type { TopicFreshness } from '../admin/freshness.ts';
import { isJsonObject, parseJson } from '../base/bigint-json.ts';
import { describeError } from '../base/errors.ts';
import { changeLines } from '../cdf/change-rows.ts';
import { otherFileRows } from '../iceberg/pipeline/other-file-rows.ts';
import { openObjectStore } from '../storage/open-object-store.ts';
import { nextVersion, toVersion } from '../table/version.ts';
import type { AppCommands, ChangeRow, CommandContext, FreshnessOptions, TailOptions } from './app-commands.ts';
import { audit } from './commands/audit-command.ts';
import { checkFeedSchemas } from './commands/check-feed-schemas.ts';
import { initPipeline } from './commands/init-command.ts';
import { listLetters, replayDeadLetters, showLetter } from './commands/letter-commands.ts';
import { maintainTable } from './commands/maintain-command.ts';
import { listOffsets } from './commands/pipeline-commands.ts';
import { readTable } from './commands/read-command.ts';
import { describeTable, listTables, tableHistory } from './commands/table-commands.ts';
import { untilFresh } from './freshness/topic-freshness.ts';
import { type OpenedComponents, openComponents } from './open-components.ts';
import { pipelineFeedsOf } from './pipeline-feeds.ts';
import { serve } from './serve.ts';
import { brokersAtHand, openServers } from './servers.ts';
import { createSession } from './session.ts';

/** What the command line can ask for. */
export function createAppCommands(): AppCommands {
  return {
    serve,
    init: (context, request) => withTables(context, (components) => initPipeline(components, request, context.signal)),
    checkFeedSchemas: (context) => withTables(context, (components) => checkFeedSchemas(components, context.signal)),
    listTables: (context) => withTables(context, (components) => listTables(components)),
    describeTable: (context, table) => withTables(context, (components) => describeTable(components, table)),
    history: (context, { table, limit }) => withTables(context, (components) => tableHistory(components, table, limit)),
    readTable,
    openSession: (config) => createSession({ config }),
    operateFeeds: (context, use) => withBroker(context, (components) => use(pipelineFeedsOf(components), context.signal)),
    audit,
    listLetters: (context, options, onLetter) =>
      withBroker(context, (components) => listLetters(components, options, onLetter, context.signal)),
    showLetter: (context, at) => withBroker(context, (components) => showLetter(components, at, context.signal)),
    replayLetters: (context, request, onOutcome) =>
      withBroker(context, (components) => replayDeadLetters(components, request, onOutcome, context.signal)),
    tailChanges: (context, options, onRow) => withTables(context, (components) => tailChanges(components, { context, options, onRow })),
    freshness: (context, request) => freshness(context, request),
    offsets: (context) => withBroker(context, (components) => listOffsets(components)),
    maintain: (context, verb, options) => withBroker(context, (components) => maintainTable(components, verb, options)),
  };
}

/** For commands that only look at tables: no server is asked or started. */
async function withTables<T>(context: CommandContext, use: (components: OpenedComponents) => Promise<T>): Promise<T> {
  const { config } = context.loaded;
  return using(openComponents({ config, role: 'command', brokers: config.kafka.brokers }), use);
}

/** For commands that ask the broker: a private one that is not running is started for as long as the command takes. */
async function withBroker<T>(context: CommandContext, use: (components: OpenedComponents) => Promise<T>): Promise<T> {
  const { config } = context.loaded;
  const log = (message: string): void => {
    process.stderr.write(`${message}\n`);
  };
  const servers = await openServers({ config, needsKafka: true, needsRedis: false, log, signal: context.signal });
  try {
    return await using(openComponents({ config, role: 'command', brokers: servers.brokers }), use);
  } finally {
    await servers.stop();
  }
}

async function freshness({ loaded: { config }, signal }: CommandContext, request: FreshnessOptions): Promise<TopicFreshness> {
  const brokers = brokersAtHand(config);
  return using(openComponents({ config, role: 'command', brokers }), (components) => {
    const kafka = brokers.length === 0 ? undefined : components.kafka;
    return untilFresh({ components, kafka }, request, { timeoutMs: request.timeoutMs, signal });
  });
}

async function using<T>(components: OpenedComponents, use: (components: OpenedComponents) => Promise<T>): Promise<T> {
  try {
    await components.tables.refresh((like, error) => {
      process.stderr.write(`tables made like ${like} are not known: ${describeError(error)}\n`);
    });
    return await use(components);
  } finally {
    await components.close();
  }
}

const tailPollMs = 500;

async function tailChanges(
  components: OpenedComponents,
  tail: { readonly context: CommandContext; readonly options: TailOptions; readonly onRow: (row: ChangeRow) => Promise<void> },
): Promise<void> {
  const { options, onRow } = tail;
  const { signal } = tail.context;
  const table = await components.catalog.load(options.table, signal);
  const newest = (await table.refresh(signal)).version;
  let from = toVersion(options.fromVersion ?? (options.follow ? newest + 1 : 0));
  let left = options.limit ?? Number.POSITIVE_INFINITY;
  while (!signal.aborted) {
    const until = nextVersion((await table.refresh(signal)).version);
    const reading = { openStore: openObjectStore, openEngine: components.openEngine, readOther: otherFileRows };
    const source = { table, ...reading, fromVersion: from, untilVersion: until };
    for await (const line of changeLines(source, signal)) {
      if (left <= 0) return;
      left -= 1;
      const row = parseJson(line, 'change row');
      if (isJsonObject(row)) await onRow(row);
    }
    if (until > from) from = until;
    if (!options.follow) return;
    await components.clock.sleep(tailPollMs, signal).catch(() => undefined);
  }
}
