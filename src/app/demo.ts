import { untilAborted } from '../base/abort.ts';
import { printJson } from '../base/bigint-json.ts';
import { serviceError } from '../base/errors.ts';
import { defaultTableFormat, traitsOf } from '../table/formats.ts';
import type { CommandContext, ServeOptions } from './app-commands.ts';
import type { Components } from './components.ts';
import type { PipelineProcess } from './pipeline-process.ts';
import { partitionStatuses } from './pipeline-status.ts';
import { loadReplaySource, sampleFlights } from './replay/replay-source.ts';
import { type ReplayProgress, replay } from './replay/replayer.ts';

const demoRecordsPerSecond = 500;
const demoPartitions = 4;
const checkMs = 200;
const progressMs = 5_000;

export interface Demo {
  readonly context: CommandContext;
  readonly options: ServeOptions;
  readonly components: Components;
  readonly pipeline: PipelineProcess;
  /** Of the admin server. */
  readonly url: string;
  /** For people: standard error, or standard output when nothing else is printed there. */
  readonly tell: (message: string) => void;
}

interface Target {
  readonly table: string;
  readonly topic: string;
}

/** Creates the demo's topic, so that the first assignment finds its partitions. */
export async function prepareDemo(components: Components): Promise<void> {
  await components.kafka.admin.ensureTopics([{ topic: targetOf(components).topic, partitions: demoPartitions }]);
}

/**
 * Replays the sample into the first route's topic. Continuous: until the signal fires. `once`: until everything is committed and
 * published, then prints the summary.
 */
export async function runDemo(demo: Demo): Promise<number> {
  const { components, options, context } = demo;
  const { clock, kafka } = components;
  const target = targetOf(components);
  const startedMs = clock.monotonicMs();
  const records = await loadReplaySource({ path: sampleFlights, keyMember: 'flight_id' });
  if (!options.once) demo.tell(welcome(demo, target, records.length));
  let progress: ReplayProgress = { total: records.length, found: 0, sent: 0 };
  const ended = new AbortController();
  const shown = showProgress(demo, target, () => progress, AbortSignal.any([context.signal, ended.signal]));
  try {
    progress = await replay({
      kafka,
      topic: target.topic,
      records,
      clock,
      recordsPerSecond: options.rate ?? (options.once ? undefined : demoRecordsPerSecond),
      signal: context.signal,
      onProgress: (now) => {
        progress = now;
      },
    });
    if (options.once) {
      await untilThrough(demo, target);
      await printSummary(demo, target, { progress, seconds: (clock.monotonicMs() - startedMs) / 1000 });
    } else if (!context.signal.aborted) {
      demo.tell(`all ${records.length} records of the sample are replayed; the pipeline waits for more (Ctrl-C stops)`);
      await untilAborted(context.signal);
    }
  } finally {
    ended.abort();
    await shown;
  }
  return 0;
}

function targetOf({ config }: Components): Target {
  const [route] = config.ingest.routes;
  const [topic] = route?.topics ?? [];
  if (route !== undefined && topic !== undefined) return { table: route.table, topic };
  throw serviceError.invalid('DEMO_NOT_CONFIGURED', 'the configuration routes no topic to a table, so there is nothing to replay into', {
    hint: 'run the demo with --config config/development.yaml',
  });
}

/** Whether the table holds everything of the topic and every feed everything of the table. */
async function isThrough({ components, pipeline }: Demo, target: Target): Promise<boolean> {
  const snapshot = await (await components.catalog.load(target.table)).refresh();
  const partitions = await partitionStatuses(components, target.table, snapshot, undefined);
  const committed = partitions.every(({ committedOffset = 0n, endOffset = 0n }) => committedOffset >= endOffset);
  const feeds = pipeline.feeds?.statuses ?? [];
  return (
    committed &&
    feeds.length === (pipeline.feeds?.count ?? 0) &&
    feeds.every((feed) => feed.lagVersions === 0 && feed.latestVersion === snapshot.version)
  );
}

async function untilThrough(demo: Demo, target: Target): Promise<void> {
  const { clock, health } = demo.components;
  while (!(await isThrough(demo, target))) {
    const failed = health.report().components.find((component) => component.state === 'failed');
    if (failed !== undefined) {
      throw serviceError.internal('DEMO_STUCK', `${failed.name} stands still: ${failed.detail ?? 'no reason given'}`);
    }
    await clock.sleep(checkMs, demo.context.signal);
  }
}

interface Summary {
  readonly progress: ReplayProgress;
  readonly seconds: number;
}

async function printSummary({ components, options }: Demo, target: Target, { progress, seconds }: Summary): Promise<void> {
  const { config, catalog, metrics } = components;
  const table = await catalog.load(target.table);
  const snapshot = await table.refresh();
  const commits = sumOf(
    (await metrics.samples('tidewater_commits_total')).filter(
      ({ labels }) => labels['by'] === 'ingest' && labels['result'] === 'committed',
    ),
  );
  const changeRows = sumOf(await metrics.samples('tidewater_cdf_records_total'));
  const topics = [target.topic, ...config.feeds.map((feed) => feed.topic), config.ingest.deadLetters.topic];
  if (options.json) {
    const tables = [{ name: table.name, format: table.format, path: table.location }];
    const line = {
      records: progress.sent,
      commits,
      files: snapshot.fileCount,
      changeRows,
      seconds: Math.round(seconds * 1000) / 1000,
      tables,
      topics,
    };
    process.stdout.write(`${printJson(line)}\n`);
    return;
  }
  process.stdout.write(
    [
      `${progress.sent} records replayed (${progress.found} were there before), ${commits} commits, ${changeRows} change rows published, ${seconds.toFixed(1)} s`,
      `  table   ${table.location}  (${table.format}, version ${snapshot.version}, ${String(snapshot.rowCount)} rows in ${snapshot.fileCount} files)`,
      `  topics  ${topics.join(', ')}`,
      '',
    ].join('\n'),
  );
}

function sumOf(samples: readonly { readonly value: number }[]): number {
  return samples.reduce((sum, { value }) => sum + value, 0);
}

function welcome({ components, options, url }: Demo, target: Target, total: number): string {
  const { config } = components;
  const table = config.tables.find((candidate) => candidate.name === target.table);
  const rate = options.rate ?? demoRecordsPerSecond;
  const { format = defaultTableFormat } = table ?? {};
  const file = `config/development${format === defaultTableFormat ? '' : `-${format}`}.yaml`;
  return [
    '',
    'Tidewater is running. Ctrl-C finishes what is under way and stops.',
    '',
    `  records   topic ${target.topic}, ${total} flights at ${rate} a second`,
    `  table     ${table?.location ?? ''}  (${traitsOf[format].title})`,
    ...config.feeds.map((feed) => `  changes   topic ${feed.topic}`),
    `  rejects   topic ${config.ingest.deadLetters.topic}`,
    `  metrics   ${url}/metrics`,
    `  status    ${url}/status`,
    '',
    'Try next, in another terminal:',
    `  npx tidewater -c ${file} history ${target.table}`,
    `  npx tidewater -c ${file} changes tail ${target.table} --limit 3`,
    `  npx tidewater -c ${file} audit`,
    '',
  ].join('\n');
}

async function showProgress(demo: Demo, target: Target, progress: () => ReplayProgress, signal: AbortSignal): Promise<void> {
  const { clock, catalog } = demo.components;
  let shown = '';
  for (;;) {
    await clock.sleep(progressMs, signal).catch(() => undefined);
    if (signal.aborted) return;
    const { total, found, sent } = progress();
    const snapshot = await catalog
      .load(target.table)
      .then((table) => table.refresh())
      .catch(() => undefined);
    const feeds = (demo.pipeline.feeds?.statuses ?? []).map((feed) => `${feed.topic} at version ${String(feed.position?.version ?? '-')}`);
    const rows = `table at version ${String(snapshot?.version ?? '-')} with ${String(snapshot?.rowCount ?? 0)} rows`;
    const line = [`${found + sent} of ${total} records in ${target.topic}`, rows, ...feeds].join('; ');
    if (line !== shown) demo.tell(line);
    shown = line;
  }
}
