import { consume, type FoldedFeed, foldFeed, header, type Received } from './checks-feed.ts';
import { icebergOrphans, readIceberg } from './checks-iceberg.ts';
import { missingFiles, newestVersion, type Orphan, orphans, readLog, type TableLog } from './checks-log.ts';
import { offsetFindings, rewriteFindings, rowTexts, sourceOffsets, statisticsFindings, withDuckDb } from './checks-table.ts';
import type { PipelineCase, Produced, Workload } from './process-workload.ts';

/** What the checks of a drained pipeline found. The invariants are those of the design: I1 exactly once … I13 statistics are true. */
export interface Verdict {
  /** Violations, by invariant; empty when everything holds. */
  readonly findings: readonly string[];
  readonly orphans: readonly Orphan[];
  readonly log: TableLog;
  readonly feed: FoldedFeed;
  readonly deadLetters: readonly Received[];
}

/** The versions of a pipeline's table, whatever its format. */
export function readTable({ tableDir, place }: PipelineCase): TableLog {
  return place === undefined ? readLog(tableDir) : readIceberg(tableDir, place);
}

/** The newest version of a pipeline's table, whatever its format; -1 while there is none. */
export function newestVersionOf(pipeline: PipelineCase): number {
  return pipeline.place === undefined ? newestVersion(pipeline.tableDir) : (readTable(pipeline).versions.at(-1)?.version ?? -1);
}

function orphansOf({ tableDir, place }: PipelineCase, log: TableLog): readonly Orphan[] {
  return place === undefined ? orphans(tableDir, log) : icebergOrphans(tableDir, log);
}

/** Checks table, feed and dead letters of a drained pipeline against what was produced. Nothing here is shared with the product. */
export async function judge(workload: Workload, pipeline: PipelineCase, produced: Produced, patienceMs?: number): Promise<Verdict> {
  const { tableDir, feedTopic, deadLetterTopic } = pipeline;
  const log = readTable(pipeline);
  const missing = missingFiles(tableDir, log);
  // Nothing can be read then, and nothing else needs to be known.
  if (missing.length > 0)
    return { findings: [...log.findings, ...missing], orphans: orphansOf(pipeline, log), log, feed: foldFeed([]), deadLetters: [] };
  const table = await withDuckDb(async (db) => ({
    sources: await sourceOffsets(db, tableDir, log),
    rows: await rowTexts(db, tableDir, [...log.live.values()]),
    findings: [
      ...(await offsetFindings(db, tableDir, log)),
      ...(await rewriteFindings(db, tableDir, log)),
      ...(await statisticsFindings(db, tableDir, log)),
    ],
  }));
  const topics = produced.poison.size > 0 ? [feedTopic, deadLetterTopic] : [feedTopic];
  const isAll = (so: readonly Received[]): boolean => {
    const rejected = new Set(so.filter(({ topic }) => topic === deadLetterTopic).map(sourceOf));
    return rejected.size >= produced.poison.size && so.filter(({ topic }) => topic === feedTopic).length >= table.rows.length;
  };
  const received = await consume(workload.kafka, topics, isAll, patienceMs);
  const deadLetters = received.filter(({ topic }) => topic === deadLetterTopic);
  const feed = foldFeed(received.filter(({ topic }) => topic === feedTopic));
  const findings = [
    ...log.findings,
    ...table.findings,
    ...exactlyOnce(table.sources, deadLetters, produced),
    ...feed.findings,
    ...(feed.rows.join('\n') === table.rows.join('\n')
      ? []
      : [`I8: the feed folds to ${feed.rows.length} rows, not the table's ${table.rows.length}`]),
  ];
  return { findings, orphans: orphansOf(pipeline, log), log, feed, deadLetters };
}

/** I1, I10: every produced record is a row, or a dead letter, and that only once. */
function exactlyOnce(sources: readonly string[], deadLetters: readonly Received[], produced: Produced): string[] {
  const findings: string[] = [];
  const rows = new Set(sources);
  if (rows.size !== sources.length) findings.push(`I1: ${sources.length - rows.size} rows are there more than once`);
  const rejected = new Set(deadLetters.map(sourceOf));
  for (const source of rejected) {
    const copies = deadLetters.filter((letter) => sourceOf(letter) === source);
    if (copies.length > 1)
      findings.push(`I10: ${source} is among the dead letters ${copies.length} times: ${copies.map(placeOf).join(', ')}`);
  }
  for (const [partition, end] of produced.ends) {
    for (let offset = 0n; offset < end; offset += 1n) {
      const source = `${partition}:${offset}`;
      const poison = produced.poison.has(source);
      if (rows.has(source) === poison) findings.push(`I1: ${source} is ${poison ? 'poison and' : 'no poison and not'} in the table`);
      if (rejected.has(source) !== poison)
        findings.push(`I10: ${source} is ${poison ? 'poison and not' : 'no poison and'} among the dead letters`);
      rows.delete(source);
    }
  }
  for (const source of rows) findings.push(`I1: ${source} is in the table and was never produced`);
  return findings;
}

function placeOf(message: Received): string {
  return `${message.partition}:${message.offset}, rejected at ${header(message, 'tidewater.dlq.rejected_at') ?? 'an unknown time'}`;
}

function sourceOf(message: Received): string {
  return `${header(message, '__connect.errors.partition') ?? ''}:${header(message, '__connect.errors.offset') ?? ''}`;
}
