import { isServiceError } from '../../base/errors.ts';
import { quoteName } from '../../expr/sql/engine-sql.ts';
import type { ChangeFile, ChangeType } from '../../table/changes.ts';
import type { ChangelogRequest } from '../../table/queries.ts';
import type { HeldRelation } from '../../table/relation.ts';
import { changelog } from '../changes/changelog.ts';
import { rowKeys } from '../changes/changelog-columns.ts';
import { columnPath } from '../metadata/schema-fields.ts';
import type { IcebergSnapshot } from '../metadata/table-metadata.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import type { TableContext } from '../table-context.ts';
import type { ChangeSource, FeedFiles } from './change-source.ts';
import { emptiesTable } from './empties-table.ts';

/** What changelogs call the changes, in the order of a feed's rows. */
const changeWords: readonly (readonly [theirs: string, ours: ChangeType])[] = [
  ['DELETE', 'delete'],
  ['UPDATE_BEFORE', 'update_preimage'],
  ['UPDATE_AFTER', 'update_postimage'],
  ['INSERT', 'insert'],
];
const changeColumn = '_change_type';
const ambiguous = 'CHANGELOG_AMBIGUOUS_IDENTIFIER';

/**
 * The changes of a snapshot that did more than append, computed and written to one file for the reader. The order is that of the values: by
 * identifier columns, so that both halves of an update are neighbours, then by kind of change and all columns; equal rows are alike.
 *
 * @throws ServiceError `CDF_UNSUPPORTED` (unsupported) without a place for the file; what the engine throws.
 */
export async function recordedChanges(
  source: ChangeSource,
  state: SnapshotState,
  snapshot: IcebergSnapshot,
  signal: AbortSignal | undefined,
): Promise<FeedFiles> {
  const { context, scratch } = source;
  const identifierColumns = identifiersOf(state);
  const range: ChangelogRequest = {
    ...(snapshot.parentSnapshotId === undefined ? {} : { startAfter: snapshot.parentSnapshotId }),
    until: snapshot.snapshotId,
    // Names and types are those of the state, whatever the table has become since.
    schemaOf: 'until',
  };
  const changes = await changesIn(context, range, identifierColumns, signal);
  try {
    const names = state.schema.fields.map(({ name }) => name);
    const fields = names.flatMap((name) => changes.schema.fields.find((field) => field.name === name) ?? []);
    const engine = await context.engine();
    const columns = names.map(quoteName);
    const identifiers = state.schema.fields.filter(({ name }) => identifierColumns.includes(name));
    const keys = [...rowKeys({ kind: 'struct', fields: identifiers }), rankSql, ...rowKeys(state.schema)];
    const rows = {
      sql: `SELECT ${[...columns, `${wordSql} AS ${quoteName(changeColumn)}`].join(', ')} FROM (${changes.sql}) ORDER BY ${keys.join(', ')}`,
      schema: { kind: 'struct', fields: [...fields, { name: changeColumn, type: { kind: 'string' }, nullable: false }] },
    } as const;
    const empties = await emptiesTable({ context, engine }, { state, snapshot }, changes, signal);
    const written = await scratch.write(engine, rows, signal);
    if (written === undefined) return { files: [] };
    const { directory: location, path, sizeBytes, rowCount } = written;
    const file: ChangeFile = { kind: 'recorded', path, location, sizeBytes, partitionValues: {}, rowCount };
    return { files: [file], empties, release: () => scratch.delete([written]) };
  } finally {
    await changes.dispose();
  }
}

const cases = (then: (ours: ChangeType, rank: number) => string): string =>
  `CASE ${quoteName(changeColumn)} ${changeWords.map(([theirs, ours], rank) => `WHEN '${theirs}' THEN ${then(ours, rank)}`).join(' ')} END`;
const wordSql: string = cases((ours) => `'${ours}'`);
const rankSql: string = cases((_, rank) => String(rank));

/** Columns of the top level that tell rows apart. */
function identifiersOf({ icebergSchema, schema }: SnapshotState): readonly string[] {
  const paths = icebergSchema.identifierFieldIds.map((id) => columnPath(icebergSchema, id));
  const names = paths.filter((path) => path !== undefined && schema.fields.some(({ name }) => name === path));
  return names.length === paths.length ? names.filter((name) => name !== undefined) : [];
}

/** Updates are paired by the identifier; where it does not tell rows apart, deletes and inserts stay what they are. */
async function changesIn(
  context: TableContext,
  range: Pick<ChangelogRequest, 'startAfter' | 'until'>,
  identifierColumns: readonly string[],
  signal: AbortSignal | undefined,
): Promise<HeldRelation> {
  if (identifierColumns.length === 0) return changelog(context, { ...range, computeUpdates: false }, signal);
  try {
    return await changelog(context, { ...range, identifierColumns, computeUpdates: true }, signal);
  } catch (error) {
    if (!isServiceError(error) || error.code !== ambiguous) throw error;
    return changelog(context, { ...range, computeUpdates: false }, signal);
  }
}
