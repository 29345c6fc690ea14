import { AnalysisException } from '../../base/analysis-exception.ts';
import type { Engine } from '../../engine/engine.ts';
import { quoteName, typeSql } from '../../expr/sql/engine-sql.ts';
import type { StructType } from '../../schema/types.ts';
import type { ChangelogRequest } from '../../table/queries.ts';
import type { HeldRelation, Relation } from '../../table/relation.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import type { TableContext } from '../table-context.ts';
import { changedRows } from './changed-rows.ts';
import { changelogSchema, type Identifier, identifierOf } from './changelog-columns.ts';
import { changelogRange } from './changelog-range.ts';
import { deletesOfIdentifier, netChanges, withoutCarriedOver, withUpdateImages } from './changelog-sql.ts';

/**
 * The row changes of a range of snapshots, whatever way the rows were changed in: files rewritten, delete files, deletion vectors. The columns
 * of the table, then `_change_type`, `_change_ordinal` (of the snapshot in the range, from 0; rewrites of the same rows do not count) and
 * `_commit_snapshot_id`. In no order.
 *
 * Rows that a snapshot only moved are no changes. With `computeUpdates` a delete and an insert of one identifier in one snapshot are both
 * halves of an update; with `netChanges` only what is left of the whole range is told, as by the first change that nothing cancelled.
 *
 * @throws AnalysisException as `changelogRange`, `identifierOf`, `INVALID_ARGUMENT` for both at once, `CHANGELOG_AMBIGUOUS_IDENTIFIER` when a
 * snapshot deletes several rows of one identifier; ServiceError `ICEBERG_FILE_MISSING` (not-found) for files that an expired snapshot took
 * with it.
 */
export async function changelog(context: TableContext, request: ChangelogRequest, signal?: AbortSignal): Promise<HeldRelation> {
  const { state, snapshots } = changelogRange(await context.refresh(signal), request);
  const net = request.netChanges === true;
  const withUpdates = request.computeUpdates ?? request.identifierColumns !== undefined;
  if (withUpdates && net) throw invalid('Not support net changes with update images');
  const identifier = withUpdates ? identifierOf(state, request.identifierColumns) : undefined;
  const schema = changelogSchema(state.schema);
  const engine = await context.engine();
  const rows = await changedRows({ context, engine }, state, snapshots, { apart: !net }, signal);
  const relation = changesOf(rows, { state, schema, identifier, net });
  if (identifier === undefined) return { ...relation, dispose: () => rows.dispose() };
  try {
    return await checkedUpdates(engine, relation, identifier, signal);
  } finally {
    await rows.dispose();
  }
}

function changesOf(
  rows: Awaited<ReturnType<typeof changedRows>>,
  {
    state,
    schema,
    identifier,
    net,
  }: { readonly state: SnapshotState; readonly schema: StructType; readonly identifier: Identifier | undefined; readonly net: boolean },
): Relation {
  const { added, mixed } = rows;
  if (net) return { sql: netChanges(unionOf([added, mixed], schema), state.schema), schema };
  const changed = mixed === undefined ? undefined : withoutCarriedOver(mixed, state.schema);
  if (identifier === undefined) return { sql: unionOf([added, changed], schema), schema };
  // Rows of snapshots that delete nothing are inserts, whatever their identifiers.
  const inserts = added === undefined ? undefined : `SELECT *, 0 AS ${deletesOfIdentifier} FROM (${added})`;
  const updates = changed === undefined ? undefined : withUpdateImages(changed, state.schema, identifier.columns);
  const counted: StructType = {
    kind: 'struct',
    fields: [...schema.fields, { name: deletesOfIdentifier, type: { kind: 'long' }, nullable: false }],
  };
  return { sql: unionOf([inserts, updates], counted), schema };
}

/** The rows kept by the engine: a snapshot with several deletes of one identifier is an error before anyone reads them. */
async function checkedUpdates(
  engine: Engine,
  { sql, schema }: Relation,
  { names }: Identifier,
  signal: AbortSignal | undefined,
): Promise<HeldRelation> {
  const kept = await engine.materialize({ sql, schema }, signal);
  const ambiguous = await engine.rows(`SELECT 1 FROM (${kept.sql}) WHERE ${deletesOfIdentifier} > 1 LIMIT 1`, signal);
  if (ambiguous.length === 0) {
    return { sql: `SELECT * EXCLUDE (${deletesOfIdentifier}) FROM (${kept.sql})`, schema, dispose: () => kept.dispose() };
  }
  await kept.dispose();
  throw new AnalysisException({
    errorClass: 'CHANGELOG_AMBIGUOUS_IDENTIFIER',
    message: `Cannot compute updates because there are multiple rows with the same identifier fields([${names.join(',')}]). Please make sure the rows are unique.`,
    hint: 'give identifier columns that are unique, or ask for no updates (compute_updates => false)',
  });
}

function unionOf(parts: readonly (string | undefined)[], schema: StructType): string {
  const given = parts.filter((part) => part !== undefined);
  return given.length === 0 ? emptySql(schema) : given.map((part) => `(${part})`).join(' UNION ALL ');
}

function emptySql({ fields }: StructType): string {
  return `SELECT ${fields.map(({ name, type }) => `CAST(NULL AS ${typeSql(type)}) AS ${quoteName(name)}`).join(', ')} WHERE false`;
}

function invalid(message: string): AnalysisException {
  return new AnalysisException({ errorClass: 'INVALID_ARGUMENT', message });
}
