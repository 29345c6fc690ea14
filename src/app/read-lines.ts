import type { JsonObject } from '../base/bigint-json.ts';
import { type ServiceError, serviceError } from '../base/errors.ts';
import { shownEntries } from '../base/redaction.ts';
import { canonicalRows, sortedLines } from '../codec/canonical-json.ts';
import { type PlainRow, type PlainValue, rowAt } from '../codec/rows.ts';
import type { Engine } from '../engine/engine.ts';
import { bindExpression } from '../expr/bind-expression.ts';
import type { Expression } from '../expr/expression.ts';
import { parseExpression } from '../expr/parse/parse-expression.ts';
import { columnPathSql, expressionSql } from '../expr/sql/engine-sql.ts';
import type { ColumnBatch } from '../schema/columns.ts';
import type { DataType, StructType } from '../schema/types.ts';
import { orderedChangeRelations } from '../session/lower/change-relation.ts';
import { readPointOf } from '../session/read/read-options.ts';
import { traitsOf } from '../table/formats.ts';
import type { Relation } from '../table/relation.ts';
import type { QueryableTable, Snapshot } from '../table/table.ts';
import { toVersion } from '../table/version.ts';
import { type ChangelogReadRequest, orderedChangelog, refuseSnapshotRange } from './changelog-relation.ts';

/** Lines held in memory to be sorted. */
const maxSortedLines = 5_000_000;

/** What to read of a table. */
export interface RowsRequest extends ChangelogReadRequest {
  readonly version?: number | undefined;
  /** A date or a date and time, in UTC unless it says otherwise; instead of `version`. */
  readonly timestamp?: string | undefined;
  /** The snapshot of an Iceberg table by its id; instead of `version`. */
  readonly snapshotId?: bigint | undefined;
  /** A branch or tag of an Iceberg table; instead of `version`. */
  readonly ref?: string | undefined;
  /** A condition in Spark's SQL. */
  readonly filter?: string | undefined;
  readonly limit?: number | undefined;
}

/** What to read of a table, and how to print it. */
export interface ReadRequest extends RowsRequest {
  /** RFC 8785 and sorted by bytes: the same whoever prints it. Default: columns in their order, rows as they come. */
  readonly canonical: boolean;
}

/** A table and what queries it. */
export interface ReadSource {
  readonly table: QueryableTable;
  readonly engine: Engine;
}

/** The rows of a version (default: the newest) as lines of JSON. */
export function rowLines(source: ReadSource, request: ReadRequest): AsyncGenerator<string, void, undefined> {
  return linesOf(rowBatches(source, request), request);
}

/** The row changes of a range of versions as lines of JSON, in the order of `changeBatches`. */
export function changeLinesOf(source: ReadSource, request: ReadRequest): AsyncGenerator<string, void, undefined> {
  return linesOf(changeBatches(source, request), request);
}

/** The rows of a version, default: the newest. */
export async function* rowBatches({ table, engine }: ReadSource, request: RowsRequest): AsyncGenerator<ColumnBatch, void, undefined> {
  const { signal } = request;
  const snapshot = await snapshotOf(table, request);
  const filter = filterOf(request, snapshot.schema);
  const relation = await engine.scan(await table.scan(snapshot, { filter }, signal), {}, signal);
  try {
    yield* engine.read(limited(filtered(relation, filter), request.limit), signal);
  } finally {
    await relation.dispose();
  }
}

/**
 * The row changes of a range of versions: the table's columns, then `_change_type`, `_commit_version` and `_commit_timestamp`. Of an Iceberg
 * table, as its changelogs have it, `_change_type` in capitals, `_change_ordinal` and `_commit_snapshot_id`.
 *
 * Versions in order, and within one what takes rows away (deletes, images before an update) before what brings rows (inserts, images after
 * it), however many there are: applied one by one they lead from one version to the next. With identifier columns, which give updates of
 * Iceberg tables, the rows of one identifier are neighbours in that order.
 */
export async function* changeBatches({ table, engine }: ReadSource, request: RowsRequest): AsyncGenerator<ColumnBatch, void, undefined> {
  const { signal } = request;
  if (computesChanges(table)) {
    const changes = await orderedChangelog(table, request);
    try {
      yield* engine.read(limited(filtered(changes, filterOf(request, changes.schema)), request.limit), signal);
    } finally {
      await changes.dispose();
    }
    return;
  }
  refuseSnapshotRange(table, request);
  const until = request.to ?? (await table.refresh(signal)).version;
  let left = request.limit;
  for await (const change of table.changeScans({ from: toVersion(request.from ?? 0), until: toVersion(until) }, signal)) {
    const scan = await engine.scan(change.scan, {}, signal);
    try {
      for (const relation of orderedChangeRelations(scan, change)) {
        for await (const batch of engine.read(limited(filtered(relation, filterOf(request, relation.schema)), left), signal)) {
          if (left !== undefined) left -= batch.rowCount;
          yield batch;
        }
      }
    } finally {
      await scan.dispose();
    }
    if (left === 0) return;
  }
}

function computesChanges(table: QueryableTable): table is QueryableTable & Required<Pick<QueryableTable, 'changelog'>> {
  return table.changelog !== undefined;
}

/** The columns of a version: name, type, nullability, whether it partitions the table, place; the id where columns have one. */
export async function* schemaLines(
  { table }: Pick<ReadSource, 'table'>,
  request: ReadRequest,
): AsyncGenerator<JsonObject, void, undefined> {
  const { schema, partitionColumns } = await snapshotOf(table, request);
  for (const [pos, field] of schema.fields.entries()) {
    const partition = partitionColumns.includes(field.name);
    const column = { name: field.name, type: typeText(field.type), nullable: field.nullable, partition, pos };
    yield traitsOf[table.format].columnIds ? { ...column, id: field.id } : column;
  }
}

/** What the versions say about themselves, oldest first; of an Iceberg table its snapshots, those of all branches. */
export async function* historyLines(
  { table }: Pick<ReadSource, 'table'>,
  request: ReadRequest,
): AsyncGenerator<JsonObject, void, undefined> {
  if (table.metadataTables.includes('snapshots')) {
    yield* snapshotLines(table, request);
    return;
  }
  const entries = await table.history({ limit: request.limit }, request.signal);
  for (const entry of entries.toReversed()) {
    const parameters = Object.entries(shownEntries(entry.operationParameters)).map(([key, text]) => [key, text ?? null] as const);
    yield {
      version: entry.version,
      timestamp: new Date(entry.committedAt).toISOString(),
      operation: entry.operation,
      operationParameters: Object.fromEntries(parameters),
      operationMetrics: entry.operationMetrics,
      engineInfo: entry.engineInfo ?? null,
      userMetadata: entry.userMetadata ?? null,
      readVersion: entry.readVersion ?? null,
      isolationLevel: entry.isolationLevel ?? null,
      isBlindAppend: entry.isBlindAppend ?? null,
    };
  }
}

/** The newest `limit` snapshots, ids as text. */
async function* snapshotLines(table: QueryableTable, { limit, signal }: ReadRequest): AsyncGenerator<JsonObject, void, undefined> {
  const snapshots = await table.metadataTable('snapshots', undefined, signal);
  const lines: JsonObject[] = [];
  for await (const batch of snapshots.rows(signal)) {
    for (let index = 0; index < batch.rowCount; index++) lines.push(snapshotLine(rowAt(batch, index)));
  }
  yield* limit === undefined ? lines : lines.slice(-limit);
}

function snapshotLine(row: PlainRow): JsonObject {
  const { committed_at: committedAt, snapshot_id: id, parent_id: parent, operation, manifest_list: list, summary } = row;
  return {
    snapshot_id: textOf(id),
    parent_id: textOf(parent),
    timestamp: typeof committedAt === 'bigint' ? new Date(Number(committedAt / 1_000n)).toISOString() : null,
    operation: textOf(operation),
    manifest_list: textOf(list),
    summary: Object.fromEntries(summaryEntries(summary)),
  };
}

function summaryEntries(summary: PlainValue | undefined): readonly (readonly [string, string | null])[] {
  if (!(summary instanceof Map)) return [];
  const entries: ReadonlyMap<PlainValue, PlainValue> = summary;
  return Array.from(entries, ([key, value]) => [textOf(key) ?? '', textOf(value)]);
}

function textOf(value: PlainValue | undefined): string | null {
  return typeof value === 'string' || typeof value === 'bigint' ? String(value) : null;
}

/**
 * The version a request asks for.
 *
 * @throws AnalysisException `DELTA_ONEOF_IN_TIMETRAVEL`, `DELTA_TIMESTAMP_INVALID`, and what the table says of versions and times it lacks;
 * ServiceError `USAGE_SEVERAL_VERSIONS` when more than one is asked for.
 */
async function snapshotOf(table: QueryableTable, request: RowsRequest): Promise<Snapshot> {
  const { version, timestamp, snapshotId, ref, signal } = request;
  if ([version, timestamp, snapshotId, ref].filter((point) => point !== undefined).length > 1 && (snapshotId ?? ref) !== undefined) {
    throw severalVersions();
  }
  if (snapshotId !== undefined) return table.findSnapshot({ kind: 'snapshot-id', id: snapshotId }, signal);
  if (ref !== undefined) return table.findSnapshot({ kind: 'version', version: ref }, signal);
  // By our own numbers, as the history has them: to Iceberg's readers a version is a snapshot's id.
  if (version !== undefined && timestamp === undefined) return table.snapshotAt(toVersion(version), signal);
  const options: (readonly [string, string])[] = [];
  if (version !== undefined) options.push(['versionAsOf', String(version)]);
  if (timestamp !== undefined) options.push(['timestampAsOf', timestamp]);
  const at = readPointOf(new Map(options));
  return at === undefined ? table.refresh(signal) : table.findSnapshot(at, signal);
}

function filterOf(request: RowsRequest, schema: StructType): Expression | undefined {
  return request.filter === undefined ? undefined : bindExpression(parseExpression(request.filter), [{ schema }]);
}

function filtered(relation: Relation, filter: Expression | undefined): Relation {
  if (filter === undefined) return { sql: relation.sql, schema: relation.schema };
  const condition = expressionSql(filter, (path) => columnPathSql(path));
  return { sql: `SELECT * FROM (${relation.sql}) WHERE ${condition}`, schema: relation.schema };
}

function limited(relation: Relation, limit: number | undefined): Relation {
  return limit === undefined ? relation : { ...relation, sql: `SELECT * FROM (${relation.sql}) LIMIT ${limit}` };
}

async function* linesOf(batches: AsyncIterable<ColumnBatch>, { canonical }: ReadRequest): AsyncGenerator<string, void, undefined> {
  if (!canonical) {
    for await (const batch of batches) yield* canonicalRows(batch, { members: 'schema' });
    return;
  }
  const all: string[] = [];
  for await (const batch of batches) {
    if (all.length + batch.rowCount > maxSortedLines) throw tooManyLines();
    for (const line of canonicalRows(batch)) all.push(line);
  }
  yield* sortedLines(all);
}

function severalVersions(): ServiceError {
  return serviceError.invalid('USAGE_SEVERAL_VERSIONS', 'several versions are asked for', {
    hint: 'give one of --version, --timestamp, --snapshot-id and --ref',
  });
}

function tooManyLines(): ServiceError {
  return serviceError.invalid('USAGE_TOO_MANY_ROWS', `more than ${maxSortedLines} rows are not sorted`, {
    hint: 'leave out --canonical, or ask for fewer rows with --filter',
  });
}

/** The type as Spark's SQL spells it, with names of Delta for the small integers. */
function typeText(type: DataType): string {
  switch (type.kind) {
    case 'integer':
      return 'int';
    case 'long':
      return 'bigint';
    case 'decimal':
      return `decimal(${type.precision},${type.scale})`;
    case 'struct':
      return `struct<${type.fields.map((field) => `${field.name}:${typeText(field.type)}`).join(',')}>`;
    case 'list':
      return `array<${typeText(type.element)}>`;
    case 'map':
      return `map<${typeText(type.key)},${typeText(type.value)}>`;
    case 'string':
      return type.format ?? 'string';
    default:
      return type.kind;
  }
}
