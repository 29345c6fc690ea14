import { isJsonObject, type JsonObject, parseJson } from '../base/bigint-json.ts';
import { ServiceError } from '../base/errors.ts';
import { RandomIdSource } from '../base/ids.ts';
import { SystemClock } from '../base/system-clock.ts';
import { SystemRandom } from '../base/system-random.ts';
import { changeLines, linesOf } from '../cdf/change-rows.ts';
import { DeltaTables } from '../delta/delta-tables.ts';
import { ParquetFileRewriter } from '../maintenance/file-rewriter.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { openObjectStore } from '../storage/open-object-store.ts';
import { RetryingObjectStore } from '../storage/retrying-object-store.ts';
import type { Table, TableDefinition } from '../table/table.ts';
import { nextVersion, toVersion } from '../table/version.ts';
import { productVersion } from './product-version.ts';

/**
 * Opens the table at a location: a directory or a `file:///` URI.
 *
 * @param options.create what to create when nothing exists there.
 * @throws ServiceError `TABLE_NOT_FOUND` (kind not-found) when nothing exists and nothing is to be created, and what the log's reader throws.
 */
export async function openTable(location: string, options: { readonly create?: TableDefinition | undefined } = {}): Promise<Table> {
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
 * The row changes of versions `fromVersion` to `toVersion`, both included, in feed order: the table's columns, then `_change_type`,
 * `_commit_version` and `_commit_timestamp`. 64-bit numbers outside the safe range are `bigint`, decimals text.
 *
 * @param range.toVersion default: the newest version.
 * @throws ServiceError `CDF_GAP`, `CDF_NOT_ENABLED`, `CDF_UNSUPPORTED`.
 */
export async function* changes(
  table: Table,
  range: { readonly fromVersion: number; readonly toVersion?: number | undefined; readonly signal?: AbortSignal | undefined },
): AsyncGenerator<JsonObject, void, undefined> {
  const last = range.toVersion ?? (await table.refresh(range.signal)).version;
  const versions = { fromVersion: toVersion(range.fromVersion), untilVersion: nextVersion(toVersion(last)) };
  for await (const line of changeLines({ table, openStore: openObjectStore, ...versions }, range.signal)) yield objectOf(line);
}

/** The rows of one version (default: the newest), as plain objects. */
export async function* rows(
  table: Table,
  options: { readonly version?: number | undefined; readonly signal?: AbortSignal | undefined } = {},
): AsyncGenerator<JsonObject, void, undefined> {
  const version = toVersion(options.version ?? (await table.refresh(options.signal)).version);
  const snapshot = await table.rowsAt(version, options.signal);
  for await (const line of linesOf({ location: table.location, openStore: openObjectStore, changes: snapshot }, options.signal)) {
    const row = objectOf(line);
    yield Object.fromEntries(Object.entries(row).filter(([name]) => !changeColumns.has(name)));
  }
}

const changeColumns: ReadonlySet<string> = new Set(['_change_type', '_commit_version', '_commit_timestamp']);

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
