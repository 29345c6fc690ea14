import { type ServiceError, serviceError } from '../base/errors.ts';
import { rowKeys } from '../iceberg/changes/changelog-columns.ts';
import type { HeldRelation } from '../table/relation.ts';
import type { QueryableTable } from '../table/table.ts';
import { toVersion } from '../table/version.ts';

/** Which changes of a table that computes them from its snapshots. */
export interface ChangelogReadRequest {
  /** Versions, both included. Default: from the first to the newest. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** Snapshots by their ids, the first one excluded; in place of versions. */
  readonly fromSnapshot?: bigint | undefined;
  readonly toSnapshot?: bigint | undefined;
  /** Columns that tell rows apart: makes updates of deletes and inserts. */
  readonly identifierColumns?: readonly string[] | undefined;
  /** Only what is left of the whole range. */
  readonly net?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The changes in an order: by snapshots, the deletes of one before its inserts and both halves of an update together, then by their values.
 *
 * @throws ServiceError `USAGE_SEVERAL_VERSIONS` (invalid) for versions and snapshots at once, and what `QueryableTable.changelog` throws.
 */
export async function orderedChangelog(
  table: QueryableTable & Required<Pick<QueryableTable, 'changelog'>>,
  request: ChangelogReadRequest,
): Promise<HeldRelation> {
  const { identifierColumns, net, signal } = request;
  const edges = await edgesOf(table, request);
  const changes = await table.changelog({ ...edges, identifierColumns, netChanges: net }, signal);
  const fields = changes.schema.fields.filter(({ name }) => !added.has(name));
  const places = identifierColumns === undefined ? [] : identifierColumns.map((name) => name.toLowerCase());
  // Neighbours are rows of one identifier: of an update the half before comes first.
  const keys = rowKeys({ kind: 'struct', fields: fields.filter(({ name }) => places.includes(name.toLowerCase())) });
  const kind = keys.length === 0 ? ['_change_type'] : [...keys, rankSql];
  const order = ['_change_ordinal', ...kind, ...rowKeys({ kind: 'struct', fields })];
  return { ...changes, sql: `SELECT * FROM (${changes.sql}) ORDER BY ${order.join(', ')}` };
}

const added: ReadonlySet<string> = new Set(['_change_type', '_change_ordinal', '_commit_snapshot_id']);
const rankSql = "CASE _change_type WHEN 'DELETE' THEN 0 WHEN 'UPDATE_BEFORE' THEN 1 WHEN 'UPDATE_AFTER' THEN 2 ELSE 3 END";

async function edgesOf(
  table: QueryableTable,
  request: ChangelogReadRequest,
): Promise<{ readonly startAfter?: bigint | undefined; readonly until?: bigint | undefined }> {
  const { from, to, fromSnapshot, toSnapshot, signal } = request;
  const byVersion = (from ?? 0) > 0 || to !== undefined;
  if (!byVersion) return { startAfter: fromSnapshot, until: toSnapshot };
  if (fromSnapshot !== undefined || toSnapshot !== undefined) throw bothKinds();
  const until = to === undefined ? undefined : (await table.snapshotAt(toVersion(to), signal)).snapshotId;
  if (from === undefined || from <= 0) return { until };
  const first = (await table.history({ fromVersion: toVersion(from) }, signal)).at(-1) ?? (await beyondNewest(table, from, signal));
  const parent = first.operationParameters['parent-id'];
  return { startAfter: parent === undefined ? undefined : BigInt(parent), until };
}

async function beyondNewest(table: QueryableTable, from: number, signal: AbortSignal | undefined): Promise<never> {
  const { version } = await table.refresh(signal);
  throw serviceError.notFound('TABLE_VERSION_NOT_FOUND', `table "${table.name}": version ${from} not found, latest is ${version}`);
}

function bothKinds(): ServiceError {
  return serviceError.invalid('USAGE_SEVERAL_VERSIONS', 'the range is asked for by versions and by snapshots', {
    hint: 'give --from and --to, or --from-snapshot and --to-snapshot',
  });
}

/** @throws ServiceError `USAGE_NO_SNAPSHOTS` (invalid): the changes of other tables are recorded version by version. */
export function refuseSnapshotRange(table: QueryableTable, request: ChangelogReadRequest): void {
  const { fromSnapshot, toSnapshot, identifierColumns, net } = request;
  if ([fromSnapshot, toSnapshot, identifierColumns].every((given) => given === undefined) && net !== true) return;
  throw serviceError.invalid(
    'USAGE_NO_SNAPSHOTS',
    `the changes of table "${table.name}" are recorded by version, not computed from snapshots`,
    { hint: '--from-snapshot, --to-snapshot, --identifier-columns and --net are of Iceberg tables; give --from and --to' },
  );
}
