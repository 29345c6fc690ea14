import { availableParallelism } from 'node:os';
import { AnalysisException } from '../base/analysis-exception.ts';
import type { JsonObject } from '../base/bigint-json.ts';
import { serviceError } from '../base/errors.ts';
import { RandomIdSource } from '../base/ids.ts';
import { SystemClock } from '../base/system-clock.ts';
import { SystemRandom } from '../base/system-random.ts';
import { type FormatDrivers, formatDrivers, openAny } from '../catalog/formats.ts';
import { jsonRows } from '../codec/json-rows.ts';
import { type OffsetTrace, type TraceRequest, traceOffset } from '../commit/offset-trace.ts';
import type { Engine } from '../engine/engine.ts';
import { ParquetFileRewriter } from '../maintenance/file-rewriter.ts';
import type { ColumnBatch } from '../schema/columns.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { openObjectStore } from '../storage/open-object-store.ts';
import { RetryingObjectStore } from '../storage/retrying-object-store.ts';
import { defaultTableFormat } from '../table/formats.ts';
import type { QueryableTable, TableDefinition } from '../table/table.ts';
import type { OpenTableOptions } from '../table/table-formats.ts';
import { LazyEngine } from './lazy-engine.ts';
import { productVersion } from './package.ts';
import { changeBatches, rowBatches } from './read-lines.ts';

/**
 * Opens the Delta or Iceberg table at a location: a directory, a `file:///` URI, an object store's, or one metadata file of an Iceberg table.
 *
 * @param options.create what to create when nothing exists there: a Delta table.
 * @param options.pathMap for an Iceberg table that lies elsewhere than where it was written.
 * @param options.pathBase what relative locations in an Iceberg table's metadata are relative to.
 * @throws ServiceError `TABLE_NOT_FOUND` (kind not-found) when nothing exists and nothing is to be created, and what the log's reader throws.
 */
export async function openTable(
  location: string,
  options: OpenTableOptions & { readonly create?: TableDefinition | undefined } = {},
): Promise<QueryableTable> {
  const { create, ...places } = options;
  const drivers = formats();
  const existing = await openAny(drivers, { name: location, location, ...places });
  if (existing !== undefined) return existing;
  if (create !== undefined) return drivers[defaultTableFormat].create(location, location, create);
  throw serviceError.notFound('TABLE_NOT_FOUND', `there is no table at "${location}"`, {
    hint: 'check the location, or pass a definition to create it',
  });
}

/**
 * The row changes of versions `fromVersion` to `toVersion`, both included: the table's columns, then `_change_type` (`insert`, `delete`,
 * `update_preimage`, `update_postimage`), `_commit_version` and `_commit_timestamp`; of an Iceberg table `_change_type` (`INSERT`, `DELETE`),
 * `_change_ordinal` and `_commit_snapshot_id`. Values as `rows` has them: by the schema, hence `_commit_version` is a `bigint`.
 *
 * Versions come in order, and within one all rows that go (deletes, images before an update) before all rows that come (inserts, images after
 * it), however large it is and wherever its files lie. So a fold by a unique key is right: forget the key of what goes, keep the row that
 * comes. Rows of one version that go, and those that come, are in no promised order among themselves.
 *
 * @param range.toVersion default: the newest version.
 * @throws AnalysisException `DELTA_MISSING_CHANGE_DATA`, `DELTA_CDC_START_VERSION_AFTER_LATEST`, `DELTA_INVALID_CDC_RANGE`,
 * `DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE`; ServiceError `ENGINE_FILE_MISSING` (kind not-found) when a file was vacuumed.
 */
export async function* changes(
  table: QueryableTable,
  range: { readonly fromVersion: number; readonly toVersion?: number | undefined; readonly signal?: AbortSignal | undefined },
): AsyncGenerator<JsonObject, void, undefined> {
  const { fromVersion: from, toVersion: to, signal } = range;
  yield* objects((engine) => changeBatches({ table, engine }, { from, to, signal }));
}

/**
 * The rows of one version (default: the newest), as plain objects in no promised order. Values are by the column's type, never by their size,
 * and inside of structs, lists and maps too: byte, short and int are `number`, a long is always a `bigint`, float and double are `number`
 * (NaN, infinities and negative zero text); decimals text with all digits of their scale; dates and timestamps ISO 8601; binary lower-case
 * hex; maps lists of pairs.
 */
export async function* rows(
  table: QueryableTable,
  options: {
    readonly version?: number | undefined;
    /** A condition in Spark's SQL. */
    readonly filter?: string | undefined;
    readonly signal?: AbortSignal | undefined;
  } = {},
): AsyncGenerator<JsonObject, void, undefined> {
  yield* objects((engine) => rowBatches({ table, engine }, options));
}

/**
 * Where a record of a Kafka topic is in a table that a pipeline writes, from the table alone: the version whose commit has it, or that it is not there
 * yet, was passed over, or is older than what the history knows. A commit says how many of its records are rows, dead letters or filtered, not which.
 *
 * @param at.pipeline default: whichever has read the topic. @param at.incarnation cluster and topic id. Default: what the table has read last.
 */
export async function freshness(
  table: QueryableTable,
  at: TraceRequest,
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<OffsetTrace> {
  return traceOffset(table, await table.refresh(options.signal), at, options.signal);
}

const memoryLimitBytes = 1024 ** 3;

/** The engine of all reads that are going on. */
let reading: { readonly engine: LazyEngine; readers: number } | undefined;

/** The rows as objects; the engine lives for as long as any are read. */
async function* objects(batches: (engine: Engine) => AsyncIterable<ColumnBatch>): AsyncGenerator<JsonObject, void, undefined> {
  const ids = new RandomIdSource(new SystemRandom());
  const shared = reading ?? {
    engine: new LazyEngine({ memoryLimitBytes, threads: availableParallelism(), temporaryDirectory: undefined, ids }),
    readers: 0,
  };
  reading = shared;
  shared.readers += 1;
  try {
    for await (const batch of batches(await shared.engine.open())) yield* jsonRows(batch);
  } finally {
    shared.readers -= 1;
    if (shared.readers === 0) {
      reading = undefined;
      await shared.engine.close();
    }
  }
}

/** @throws AnalysisException `ENGINE_NOT_AVAILABLE` while nothing is read. */
function engineOfReads(): Promise<Engine> {
  if (reading !== undefined) return reading.engine.open();
  return Promise.reject(
    new AnalysisException({
      errorClass: 'ENGINE_NOT_AVAILABLE',
      kind: 'unsupported',
      message: 'a table that was opened by openTable is read with rows and changes',
      hint: 'change tables through a Session',
    }),
  );
}

function formats(): FormatDrivers {
  const clock = new SystemClock();
  const random = new SystemRandom();
  const openStore = (location: string): ObjectStore => new RetryingObjectStore(openObjectStore(location), { clock, random });
  const rewriter = new ParquetFileRewriter({ openStore });
  const ids = new RandomIdSource(random);
  // Iceberg tables read their delete files with the engine that reads their rows; operations on rows have none.
  return formatDrivers({ openStore, clock, random, ids, version: productVersion, rewriter }, { iceberg: { engine: engineOfReads } });
}
