import { readTable } from '../checks.ts';
import { consume, foldFeed, type Received } from '../checks-feed.ts';
import { missingFiles, type TableLog } from '../checks-log.ts';
import { rowTexts, sourceIds, withDuckDb } from '../checks-table.ts';
import type { PipelineCase, Workload } from '../process-workload.ts';
import type { Incarnation, SourceLedger, SourceRecord } from './source-ledger.ts';

/** What operators took away on purpose: nothing is asked of it afterwards. */
export interface TakenAway {
  /** Dead letters written before the dead-letter topic was deleted. */
  deadLetters: boolean;
}

/**
 * What is wrong after a walk, by code that shares nothing with the product. Of the newest incarnation of the topic every record is in the
 * table once (or among the dead letters once); of those before it a beginning of each partition, since a deleted topic takes what was not
 * read; the feed folds to the table's rows and holds no change twice.
 */
export async function judgeWalk(
  workload: Workload,
  pipeline: PipelineCase,
  ledger: SourceLedger,
  taken: TakenAway,
): Promise<readonly string[]> {
  const log = readTable(pipeline);
  const missing = missingFiles(pipeline.tableDir, liveOnly(log));
  if (missing.length > 0) return [...log.findings, ...missing];
  const live = [...log.live.values()];
  const table = await withDuckDb(async (db) => ({
    ids: await sourceIds(db, pipeline.tableDir, log),
    rows: await rowTexts(db, pipeline.tableDir, live),
  }));
  const poisoned = new Set([...ledger.current.records.values()].flat().flatMap(({ id, poison }) => (poison ? [id] : [])));
  const topics = [pipeline.feedTopic, ...(poisoned.size > 0 && !taken.deadLetters ? [pipeline.deadLetterTopic] : [])];
  const received = await consume(workload.kafka, topics, (so) => {
    const rejected = new Set(ofTopic(so, pipeline.deadLetterTopic).map(idOf));
    return [...poisoned].every((id) => rejected.has(id)) && ofTopic(so, pipeline.feedTopic).length >= table.rows.length;
  });
  const feed = foldFeed(ofTopic(received, pipeline.feedTopic));
  const letters = ofTopic(received, pipeline.deadLetterTopic).map(idOf);
  return [
    ...log.findings.filter((finding) => !isOfOtherIncarnation(finding, ledger)),
    ...onceEach('the table', table.ids, ledger.incarnations, ({ poison }) => !poison),
    ...(taken.deadLetters
      ? doubled('the dead letters', letters)
      : onceEach('the dead letters', letters, ledger.incarnations, ({ poison }) => poison)),
    ...feed.findings,
    ...(feed.rows.join('\n') === table.rows.join('\n')
      ? []
      : [`I8: the feed folds to ${feed.rows.length} rows, not the table's ${table.rows.length}`]),
  ];
}

/** The marks of a deleted topic do not move any more; those of the new one begin anew under another name. */
function isOfOtherIncarnation(finding: string, ledger: SourceLedger): boolean {
  return ledger.incarnations.length > 1 && finding.startsWith('I2:');
}

/** Earlier versions may have lost files to a vacuum that an operator asked for. */
function liveOnly(log: TableLog): TableLog {
  return { ...log, versions: log.versions.map((version) => ({ ...version, adds: version.adds.filter(({ path }) => log.live.has(path)) })) };
}

function onceEach(
  where: string,
  found: readonly number[],
  incarnations: readonly Incarnation[],
  belongs: (record: SourceRecord) => boolean,
): readonly string[] {
  const ids = new Set(found);
  const findings = [...doubled(where, found)];
  for (const [age, { records, whole }] of incarnations.entries()) {
    const complete = whole || age === incarnations.length - 1;
    for (const [partition, given] of records) {
      const name = `partition ${partition} of incarnation ${age}`;
      const wanted = given.filter(belongs);
      const missing = wanted.filter(({ id }) => !ids.has(id));
      const firstMissing = missing[0];
      if (firstMissing !== undefined && complete)
        findings.push(`I1: ${where} lacks ${missing.length} of ${name}, the first is ${firstMissing.id}`);
      const behind = wanted.filter(({ id }) => firstMissing !== undefined && id > firstMissing.id && ids.has(id));
      if (behind.length > 0) findings.push(`I1: ${where} lacks ${firstMissing?.id ?? -1} of ${name} and has ${behind.length} after it`);
      for (const { id } of given) ids.delete(id);
      const strangers = given.filter((record) => !belongs(record) && found.includes(record.id));
      if (strangers.length > 0) findings.push(`I10: ${where} has ${strangers.length} records of ${name} that do not belong there`);
    }
  }
  if (ids.size > 0) findings.push(`I1: ${where} has ${ids.size} records that were never produced`);
  return findings;
}

function doubled(where: string, found: readonly number[]): readonly string[] {
  const extra = found.length - new Set(found).size;
  return extra === 0 ? [] : [`I1: ${where} has ${extra} records more than once`];
}

function ofTopic(received: readonly Received[], topic: string): readonly Received[] {
  return received.filter((message) => message.topic === topic);
}

/** Records of the workload have their number as key, and dead letters keep it. */
function idOf(message: Received): number {
  return Number(String(message.key));
}
