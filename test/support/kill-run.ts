import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { judge, readTable, type Verdict } from './checks.ts';
import { freshnessFindings, timeFindings } from './checks-freshness.ts';
import { LogWatch } from './checks-log.ts';
import { eventually, ProductProcess, runProduct } from './process.ts';
import { untilThrough, untilTimed } from './process-drain.ts';
import { type IcebergKind, type PipelineCase, Produced, pipelineCase, type Workload } from './process-workload.ts';

const partSize = 60;
const partMs = 100;
const deathDeadlineMs = 90_000;
const oldAgeMs = 10 * 86_400_000;

export interface KillOptions {
  readonly workload: Workload;
  readonly dir: string;
  /** `before-commit`, `within-transaction`, … */
  readonly point: string;
  /** Which passing of the point kills. */
  readonly nth: number;
  readonly maintenance?: string | undefined;
  readonly iceberg?: IcebergKind | undefined;
  readonly transform?: boolean | undefined;
  readonly twin?: IcebergKind | undefined;
  /** Old files that nothing refers to, put into the table before the first start: vacuum finds something. */
  readonly strays?: number | undefined;
  /** What must be true of the table before the second process is stopped. */
  readonly until?: ((tableDir: string, pipeline: PipelineCase) => boolean) | undefined;
}

export interface KillResult extends Verdict {
  readonly pipeline: PipelineCase;
  readonly killedAtMs: number;
  /** What the second process claims beside what the log says it did (I12); empty when they agree. */
  readonly dishonest: readonly string[];
}

/**
 * Runs the product under load until the failpoint kills it, starts it again without the failpoint, waits until everything is through,
 * stops it with SIGTERM and judges what is left.
 */
export async function killAndRecover(options: KillOptions): Promise<KillResult> {
  const { workload, dir, point, nth } = options;
  const pipeline = pipelineCase(dir, `kill-${point.toLowerCase()}`, {
    maintenance: options.maintenance,
    iceberg: options.iceberg,
    transform: options.transform,
    twin: options.twin,
  });
  const produced = new Produced();
  await workload.createTopic(pipeline);
  plantStrays(pipeline.tableDir, options.strays ?? 0);
  const watch = new LogWatch(pipeline.tableDir, pipeline.place === undefined ? undefined : 'metadata');
  const first = new ProductProcess({ config: pipeline.config, args: ['serve'], env: { FAILPOINT: `${point}:kill:${nth}` } });
  try {
    await loadUntilDead(workload, pipeline, produced, first);
  } finally {
    await first.kill();
  }
  const killedAtMs = Date.now();
  if (!first.said(`failpoint ${point}: kill`)) throw new Error(`${point} did not kill it:\n${first.log}`);
  const diedAt = readTable(pipeline).versions.at(-1)?.version ?? -1;
  const second = new ProductProcess({ config: pipeline.config, args: ['serve'] });
  try {
    await workload.produce(pipeline, produced, 2 * partSize);
    await untilThrough(second, pipeline, produced);
    const { until } = options;
    if (until !== undefined) await eventually(`the work that ${point} interrupted is done`, () => until(pipeline.tableDir, pipeline));
    // What maintenance committed meanwhile is to be published, too.
    await untilThrough(second, pipeline, produced);
    await untilTimed(second);
    await workload.produce(pipeline, produced, partSize);
    await untilThrough(second, pipeline, produced);
    const dishonest = [...(await claims(second, pipeline, diedAt)), ...(await freshnessFindings(second, pipeline, produced))];
    const exit = await second.terminate();
    if (exit.code !== 0) throw new Error(`the drain ended with ${JSON.stringify(exit)}:\n${second.log}`);
    dishonest.push(...(await timeFindings(pipeline, produced)));
    const verdict = await judge(workload, pipeline, produced);
    return {
      ...verdict,
      findings: [...verdict.findings, ...watch.finish(pipeline.place === undefined ? undefined : verdict.log.everNamed)],
      pipeline,
      killedAtMs,
      dishonest,
    };
  } finally {
    await second.kill();
    watch.finish();
  }
}

/** I6: files that nothing refers to grow old and fall to vacuum, and nothing else does. Resolves with what vacuum deleted. */
export async function vacuumAway({ pipeline, orphans }: KillResult): Promise<readonly string[]> {
  const old = new Date(Date.now() - oldAgeMs);
  for (const { path } of orphans) utimesSync(join(pipeline.tableDir, path), old, old);
  const ran = await runProduct({ config: pipeline.config, args: ['maintain', 'vacuum', 'events', '--yes', '--json'] });
  if (ran.code !== 0) throw new Error(`vacuum ended with ${String(ran.code)}:\n${ran.log}`);
  return (JSON.parse(ran.stdout) as { readonly paths: readonly string[] }).paths;
}

async function loadUntilDead(workload: Workload, pipeline: PipelineCase, produced: Produced, running: ProductProcess): Promise<void> {
  const until = Date.now() + deathDeadlineMs;
  while (running.exit === undefined) {
    if (Date.now() > until) throw new Error(`it still lives after ${deathDeadlineMs} ms:\n${running.log}`);
    await workload.produce(pipeline, produced, partSize);
    await sleep(partMs);
  }
}

function plantStrays(tableDir: string, count: number): void {
  const old = new Date(Date.now() - oldAgeMs);
  for (let index = 0; index < count; index += 1) {
    const file = join(tableDir, 'kind=blue', `stray-${index}.parquet`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, 'nothing refers to this file');
    utimesSync(file, old, old);
  }
}

/** I12: what the process says it committed and published is what the log and the rows say. */
async function claims(running: ProductProcess, pipeline: PipelineCase, diedAt: number): Promise<readonly string[]> {
  const metrics = await running.metrics();
  const appended = readTable(pipeline).versions.filter(({ version, marks }) => version > diedAt && marks.size > 0);
  const rows = appended.flatMap(({ adds }) => adds).reduce((sum, add) => sum + add.stats.numRecords, 0);
  const differ = (what: string, claimed: number, actual: number): string[] =>
    claimed === actual ? [] : [`I12: ${what}: the metrics say ${claimed}, the log says ${actual}`];
  return [
    ...differ('committed rows', metrics.sum('tidewater_ingest_records_committed_total'), rows),
    ...differ('commits', metrics.sum('tidewater_commits_total', { by: 'ingest', result: 'committed' }), appended.length),
    ...differ('records in flight', metrics.sum('tidewater_ingest_records_in_flight'), 0),
  ];
}
