import { availableParallelism } from 'node:os';
import { isJsonObject, type JsonObject, parseJson } from '../base/bigint-json.ts';
import { ServiceError } from '../base/errors.ts';
import { RandomIdSource } from '../base/ids.ts';
import { SystemClock } from '../base/system-clock.ts';
import { SystemRandom } from '../base/system-random.ts';
import { DeltaTables } from '../delta/delta-tables.ts';
import type { Engine } from '../engine/engine.ts';
import { ParquetFileRewriter } from '../maintenance/file-rewriter.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { openObjectStore } from '../storage/open-object-store.ts';
import { RetryingObjectStore } from '../storage/retrying-object-store.ts';
import type { QueryableTable, TableDefinition } from '../table/table.ts';
import { LazyEngine } from './lazy-engine.ts';
import { productVersion } from './product-version.ts';
import { changeLinesOf, rowLines } from './read-lines.ts';

/**
 * Opens the table at a location: a directory or a `file:///` URI.
 *
 * @param options.create what to create when nothing exists there.
 * @throws ServiceError `TABLE_NOT_FOUND` (kind not-found) when nothing exists and nothing is to be created, and what the log's reader throws.
 */
export async function openTable(
  location: string,
  options: { readonly create?: TableDefinition | undefined } = {},
): Promise<QueryableTable> {
  const tables = deltaTables();
  const existing = await tables.open(location, location);
  if (existing !== undefined) return existing;
  if (options.create !== undefined) return tables.create(location, location, options.create);
  throw new ServiceError({
    code: 'TABLE_NOT_FOUND',
    kind: 'not-found',
    message: `there is no table at "${location}"`,
    hint: 'check the location, or pass a definition to create it',
  });
}

/**
 * The row changes of versions `fromVersion` to `toVersion`, both included, versions in order and the deletes of one before its inserts: the
 * table's columns, then `_change_type`, `_commit_version` and `_commit_timestamp`. Values as `rows` has them.
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
  yield* objects((engine) => changeLinesOf({ table, engine }, { ...plain, from, to, signal }));
}

/**
 * The rows of one version (default: the newest), as plain objects in no promised order: 64-bit numbers outside the safe range are `bigint`;
 * decimals text; NaN, infinities and negative zero text; dates and timestamps ISO 8601; binary lower-case hex; maps lists of pairs.
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
  yield* objects((engine) => rowLines({ table, engine }, { ...plain, ...options }));
}

const memoryLimitBytes = 1024 ** 3;
const plain = { canonical: false, exactNumbers: true } as const;

/** The lines as objects; the engine lives for as long as they are read. */
async function* objects(lines: (engine: Engine) => AsyncIterable<string>): AsyncGenerator<JsonObject, void, undefined> {
  const ids = new RandomIdSource(new SystemRandom());
  const engine = new LazyEngine({ memoryLimitBytes, threads: availableParallelism(), temporaryDirectory: undefined, ids });
  try {
    for await (const line of lines(await engine.open())) yield objectOf(line);
  } finally {
    await engine.close();
  }
}

function objectOf(line: string): JsonObject {
  const value = parseJson(line, 'row');
  return isJsonObject(value) ? value : {};
}

function deltaTables(): DeltaTables {
  const clock = new SystemClock();
  const random = new SystemRandom();
  const openStore = (location: string): ObjectStore => new RetryingObjectStore(openObjectStore(location), { clock, random });
  const rewriter = new ParquetFileRewriter({ openStore });
  return new DeltaTables({ openStore, clock, random, ids: new RandomIdSource(random), version: productVersion, rewriter });
}
