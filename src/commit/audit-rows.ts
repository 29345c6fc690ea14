import { assert } from '../base/assert.ts';
import type { Engine } from '../engine/engine.ts';
import { quoteName, sqlText } from '../expr/sql/engine-text.ts';
import type { StructType } from '../schema/types.ts';
import type { HeldRelation, Relation } from '../table/relation.ts';
import { toVersion } from '../table/version.ts';
import type { AuditReport, ForeignChange } from './audit.ts';
import type { AuditFindings, AuditSeverity } from './audit-findings.ts';

/** Columns of the table that hold where in the source a row is from. */
export interface SourceColumns {
  readonly topic?: string | undefined;
  readonly partition?: string | undefined;
  readonly offset: string;
}

/** Ranges of commits as rows: one for each range, `expected` rows being those of the whole commit, of which `replayed` may lie in others. */
export const rangeSchema: StructType = {
  kind: 'struct',
  fields: [
    { name: 'version', type: { kind: 'long' }, nullable: false },
    { name: 'topic', type: { kind: 'string' }, nullable: false },
    { name: 'part', type: { kind: 'long' }, nullable: false },
    { name: 'lo', type: { kind: 'long' }, nullable: false },
    { name: 'hi', type: { kind: 'long' }, nullable: false },
    { name: 'expected', type: { kind: 'long' }, nullable: false },
    { name: 'replayed', type: { kind: 'long' }, nullable: false },
    { name: 'incarnation', type: { kind: 'string' }, nullable: false },
    { name: 'pipeline', type: { kind: 'string' }, nullable: false },
  ],
};

export interface RowsRequest {
  readonly engine: Engine;
  /** The table's rows. */
  readonly rows: Relation;
  readonly ranges: Relation;
  readonly ledger: AuditReport;
  readonly columns: SourceColumns;
  /** The history knows every version of the table. */
  readonly complete: boolean;
}

export interface RowsAudit {
  /** Rows with an offset that a version accounts for. */
  readonly proven: number;
  /** Rows of versions that the history no longer has. */
  readonly unproven: number;
}

/** Versions and partitions that are told one by one. */
const maxTold = 100;

/**
 * Why the rows of a table cannot be told by source offset; `undefined`: they can. A column that is missing must not matter: one topic, one
 * partition.
 */
export function rowsProblem(
  columns: SourceColumns | undefined,
  { ranges: all, rows, recordsWithRows, keyedCommits }: AuditReport,
): string | undefined {
  if (keyedCommits > 0) return 'it has a row for each key, not for each offset';
  if (columns === undefined) return 'no column of the table is known to hold source offsets';
  if (recordsWithRows !== rows) return 'its route makes several rows of a record, which share their offset';
  const ranges = all.filter(({ replay }) => replay !== true);
  const [topics, partitions] = [new Set(ranges.map(({ topic }) => topic)), new Set(ranges.map(({ partition }) => partition))];
  if (columns.topic === undefined && topics.size > 1) return `its rows are of ${topics.size} topics, and no column holds the topic`;
  if (columns.partition === undefined && partitions.size > 1)
    return `its rows are of ${partitions.size} partitions, and no column holds the partition`;
  return undefined;
}

/**
 * Counts the rows of every commit by their source offsets, and those that share one. The engine does it, in the memory it has, on disk beyond.
 * Offsets that several commits cover (by an operator's decision) are counted together.
 */
export async function auditRows(request: RowsRequest, findings: AuditFindings, signal?: AbortSignal): Promise<RowsAudit> {
  const { engine, ledger } = request;
  const sums = await engine.materialize({ sql: sumsSql(request), schema: sumsSchema }, signal);
  try {
    await compareCommits(request, sums, findings, signal);
    await findDoubles(request, sums, findings, signal);
    const strangers = await findStrangers(request, sums, findings, signal);
    const [[proven] = []] = await engine.rows(`SELECT sum(n) FROM (${sums.sql}) WHERE inside`, signal);
    return { proven: numberOf(proven), unproven: request.complete || ledger.foreignCount > 0 ? 0 : strangers };
  } finally {
    await sums.dispose();
  }
}

const sumsSchema: StructType = {
  kind: 'struct',
  fields: [
    ...rangeSchema.fields.slice(0, 3).map((field) => ({ ...field, nullable: true })),
    { name: 'inside', type: { kind: 'boolean' }, nullable: false },
    { name: 'n', type: { kind: 'long' }, nullable: true },
    { name: 'doubled', type: { kind: 'long' }, nullable: true },
    { name: 'first_doubled', type: { kind: 'long' }, nullable: true },
    { name: 'first', type: { kind: 'long' }, nullable: true },
  ],
};

/**
 * Ranges that overlap others belong to commits that are counted together (version null). They are cut where one of them begins or ends, so
 * that of each piece is known how often an offset in it may be there: as often as a pipeline has read the incarnation, by decision, and once
 * more for each other incarnation. What another pipeline has read of the same incarnation is no reason to be there again.
 */
function segmentsSql({ ranges }: RowsRequest): string {
  return `
    ordered AS (SELECT *, max(hi) OVER earlier AS before, lead(lo) OVER (PARTITION BY topic, part ORDER BY lo, version) AS after
      FROM (${ranges.sql}) WHERE hi > lo
      WINDOW earlier AS (PARTITION BY topic, part ORDER BY lo, version ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)),
    tangled AS (SELECT DISTINCT version FROM ordered WHERE before > lo OR after < hi),
    ends AS (
      SELECT topic, part, incarnation, pipeline, lo AS o, 1 AS step FROM ordered WHERE version IN (SELECT version FROM tangled)
      UNION ALL
      SELECT topic, part, incarnation, pipeline, hi, -1 FROM ordered WHERE version IN (SELECT version FROM tangled)),
    steps AS (SELECT topic, part, incarnation, pipeline, o,
        sum(sum(step)) OVER (PARTITION BY topic, part, incarnation, pipeline ORDER BY o) AS readings
      FROM ends GROUP BY topic, part, incarnation, pipeline, o),
    pieces AS (SELECT topic, part, o AS lo, lead(o) OVER (PARTITION BY topic, part ORDER BY o) AS hi
      FROM (SELECT DISTINCT topic, part, o FROM ends)),
    readers AS (SELECT DISTINCT topic, part, incarnation, pipeline FROM ends),
    read AS (SELECT asked.topic, asked.part, asked.lo, asked.hi, asked.incarnation, max(steps.readings) AS readings
      FROM (SELECT * FROM pieces JOIN readers USING (topic, part)) AS asked
      ASOF JOIN steps ON asked.topic = steps.topic AND asked.part = steps.part AND asked.incarnation = steps.incarnation
        AND asked.pipeline = steps.pipeline AND asked.lo >= steps.o
      GROUP BY ALL),
    segments AS (
      SELECT version, topic, part, lo, hi, 1 AS allowed FROM ordered WHERE version NOT IN (SELECT version FROM tangled)
      UNION ALL
      SELECT NULL, topic, part, lo, hi, CAST(sum(readings) AS BIGINT) FROM read GROUP BY topic, part, lo, hi HAVING sum(readings) > 0)`;
}

/** Rows by commit and partition; each offset once before, so that what is sorted and joined are offsets. */
function sumsSql(request: RowsRequest): string {
  const { rows, columns, ledger } = request;
  const first = ledger.ranges.find(({ replay }) => replay !== true);
  const topic = columns.topic === undefined ? sqlText(first?.topic ?? '') : quoteName(columns.topic);
  const part = columns.partition === undefined ? String(first?.partition ?? 0) : quoteName(columns.partition);
  return `WITH ${segmentsSql(request)},
    offsets AS (SELECT CAST(${topic} AS VARCHAR) AS topic, CAST(${part} AS BIGINT) AS part, CAST(${quoteName(columns.offset)} AS BIGINT) AS o,
      count(*) AS n FROM (${rows.sql}) GROUP BY ALL),
    placed AS (SELECT offsets.*, segments.version, segments.allowed, coalesce(o < segments.hi, false) AS inside
      FROM offsets ASOF LEFT JOIN segments ON offsets.topic = segments.topic AND offsets.part = segments.part AND offsets.o >= segments.lo)
    SELECT CASE WHEN inside THEN version END AS version, topic, part, inside, CAST(sum(n) AS BIGINT) AS n,
      CAST(sum(greatest(n - CASE WHEN inside THEN allowed ELSE 1 END, 0)) FILTER (o IS NOT NULL) AS BIGINT) AS doubled,
      min(o) FILTER (n > CASE WHEN inside THEN allowed ELSE 1 END) AS first_doubled, min(o) AS first
    FROM placed GROUP BY 1, topic, part, inside`;
}

/** Every commit's ranges hold the rows it wrote, and those of replayed letters, which other commits wrote. */
async function compareCommits(
  request: RowsRequest,
  sums: HeldRelation,
  findings: AuditFindings,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { engine, ledger } = request;
  const sql = `WITH ${segmentsSql(request)},
    expected AS (SELECT CASE WHEN version IN (SELECT version FROM tangled) THEN NULL ELSE version END AS version, sum(expected) AS expected, sum(replayed) AS replayed
      FROM (SELECT DISTINCT version, expected, replayed FROM (${request.ranges.sql})) GROUP BY 1),
    found AS (SELECT version, sum(n) AS n FROM (${sums.sql}) WHERE inside GROUP BY 1),
    compared AS (SELECT expected.version, CAST(expected AS BIGINT) AS expected, CAST(coalesce(n, 0) AS BIGINT) AS n,
        CAST(greatest(expected - replayed - coalesce(n, 0), 0) AS BIGINT) AS missing, CAST(greatest(coalesce(n, 0) - expected, 0) AS BIGINT) AS excess
      FROM expected LEFT JOIN found ON expected.version IS NOT DISTINCT FROM found.version),
    judged AS (SELECT *, sum(excess) OVER () > ${ledger.replayed} AS unexplained FROM compared)
    SELECT version, expected, n, sum(missing) OVER () AS missing, count(*) OVER () AS commits
    FROM judged WHERE missing > 0 OR (excess > 0 AND unexplained) ORDER BY version LIMIT ${maxTold}`;
  const rows = await engine.rows(sql, signal);
  const missing = numberOf(rows[0]?.[3]);
  const level = explains(ledger.foreign, missing) ? 'warning' : 'error';
  for (const [version, expected, found] of rows) {
    const text = differenceText(numberOf(expected), numberOf(found));
    // More rows than were written are doubles, or what others wrote over the same offsets.
    const severity: AuditSeverity = numberOf(found) > numberOf(expected) ? 'error' : level;
    findings.add({ level: severity, version: version === null ? undefined : toVersion(numberOf(version)), rule: 'rows', text });
  }
  const untold = numberOf(rows[0]?.[4]) - rows.length;
  if (untold > 0)
    findings.add({ level, version: undefined, rule: 'rows', text: `${untold} more versions do not hold the rows they wrote` });
}

function differenceText(expected: number, found: number): string {
  const what = `its offsets hold ${found} rows, it wrote ${expected}`;
  return found < expected ? `${what}: ${expected - found} are not there` : `${what}: ${found - expected} too many`;
}

/** Whether what others deleted may be all that is missing. */
function explains(foreign: readonly ForeignChange[], missing: number): boolean {
  let deleted = 0;
  for (const { operation, netRows, removedFiles } of foreign) {
    if (netRows === undefined || (removedFiles > 0 && !/delete|truncate/i.test(operation))) return true;
    deleted += Math.max(0, -netRows);
  }
  return missing <= deleted;
}

async function findDoubles(
  { engine }: RowsRequest,
  sums: HeldRelation,
  findings: AuditFindings,
  signal: AbortSignal | undefined,
): Promise<void> {
  const rows = await engine.rows(
    `SELECT topic, part, CAST(sum(doubled) AS BIGINT), min(first_doubled) FROM (${sums.sql}) WHERE doubled > 0
     GROUP BY topic, part ORDER BY topic, part LIMIT ${maxTold}`,
    signal,
  );
  for (const [topic, part, doubled, first] of rows) {
    const text = `${placeText(topic, part)}: ${numberOf(doubled)} rows have the offset of another row, the first of them ${numberOf(first)}`;
    findings.add({ level: 'error', version: undefined, rule: 'duplicates', text });
  }
}

/** Rows of offsets that no version accounts for: from before the history begins, or written by somebody else. */
async function findStrangers(
  request: RowsRequest,
  sums: HeldRelation,
  findings: AuditFindings,
  signal: AbortSignal | undefined,
): Promise<number> {
  const { engine, complete, ledger } = request;
  const rows = await engine.rows(
    `SELECT topic, part, CAST(sum(n) AS BIGINT), min(first), sum(CAST(sum(n) AS BIGINT)) OVER () FROM (${sums.sql}) WHERE NOT inside
     GROUP BY topic, part ORDER BY topic, part LIMIT ${maxTold}`,
    signal,
  );
  const level: AuditSeverity = ledger.foreignCount > 0 ? 'warning' : complete ? 'error' : 'note';
  const why = complete ? 'that no version accounts for' : 'that no version accounts for that the history still has';
  for (const [topic, part, count, first] of rows) {
    const text = `${placeText(topic, part)}: ${numberOf(count)} rows of offsets ${why}${first === null ? '' : `, from ${numberOf(first)} on`}`;
    findings.add({ level, version: undefined, rule: 'strangers', text });
  }
  return numberOf(rows[0]?.[4]);
}

function placeText(topic: unknown, part: unknown): string {
  return typeof topic === 'string' ? `${topic}:${numberOf(part)}` : 'without a source';
}

function numberOf(value: unknown): number {
  if (value === null || value === undefined) return 0;
  assert(typeof value === 'number' || typeof value === 'bigint' || typeof value === 'string', 'a count of the engine is a number');
  return Number(value);
}
