import type { Engine } from '../../engine/engine.ts';
import { refuseBrokenRows } from '../../rows/values/row-checks.ts';
import type { HeldRelation, Relation } from '../../table/relation.ts';
import { nameParts, quotedName } from '../../table/table-names.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import type { TableContext } from '../table-context.ts';
import { type MatchOptions, prepareRows } from './prepare-rows.ts';
import { requiredChecks } from './required-checks.ts';

/** What rows are checked with. */
export interface CheckTools {
  readonly context: TableContext;
  readonly engine: Engine;
  readonly signal: AbortSignal | undefined;
  /** Keeps a relation until the caller's work ends. Without it rows that are read more than once are evaluated each time. */
  holding?(relation: Promise<HeldRelation>): Promise<HeldRelation>;
}

/**
 * Given rows as rows of the table, everything it asks of them made sure. They are kept by the engine first when there is something to check.
 *
 * @throws AnalysisException as `prepareRows`, and `INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST` (KD000), `CAST_OVERFLOW_IN_TABLE_INSERT`
 * (22003), `CAST_INVALID_INPUT` (22018), `NOT_NULL_ASSERT_VIOLATION` (42000).
 */
export async function checkedRows(tools: CheckTools, state: SnapshotState, given: Relation, options: MatchOptions): Promise<Relation> {
  const { context, engine, signal } = tools;
  const table = quotedName(nameParts(context.name));
  const prepare = (rows: Relation) => prepareRows(table, state.schema, rows, { ...options, zone: context.zone });
  const required = requiredChecks(context.name, state.schema);
  const prepared = prepare(given);
  if (prepared.checks.length === 0 && required.length === 0) return prepared.rows;
  const kept = tools.holding === undefined ? given : await tools.holding(engine.materialize(given, signal));
  const { source, rows, checks } = prepare(kept);
  await refuseBrokenRows(engine, source, checks, signal);
  await refuseBrokenRows(engine, rows, required, signal);
  return rows;
}
