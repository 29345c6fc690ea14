import { bindNow } from '../../expr/bind-parameters.ts';
import type { Expression } from '../../expr/expression.ts';
import type {
  CommitOptions,
  DeleteRequest,
  FindPlaces,
  MergeClause,
  MergeRequest,
  RowOperationResult,
  UpdateRequest,
} from '../../table/row-operations.ts';
import type { QueryableTable } from '../../table/table.ts';
import type { Plan } from '../plan/plan.ts';
import { relationOf } from '../run/actions.ts';
import { withExecution } from '../run/execution.ts';
import type { SessionRuntime } from '../run/session-runtime.ts';
import { type CommandResult, resultSchema } from './command-result.ts';
import { sessionCommit, sessionNotes } from './session-commit.ts';

/** A table to be changed, in a session. */
export interface CommandTarget {
  readonly runtime: SessionRuntime;
  readonly table: QueryableTable;
  readonly signal?: AbortSignal | undefined;
}

const affectedSchema = resultSchema({ num_affected_rows: 'long' });
const mergeSchema = resultSchema({
  num_affected_rows: 'long',
  num_updated_rows: 'long',
  num_deleted_rows: 'long',
  num_inserted_rows: 'long',
});

/** A command for rows that a condition tells, or a query in place of it, given the snapshot to ask. */
type Choosing<Request extends { readonly places?: unknown }> = Omit<Request, keyof CommitOptions | 'places'> & {
  readonly places?: ((snapshotId: bigint | undefined) => Plan) | undefined;
};

/** DELETE: one row, `num_affected_rows`. */
export async function deleteCommand(target: CommandTarget, request: Choosing<DeleteRequest>): Promise<CommandResult> {
  const condition = request.condition === undefined ? undefined : fixedNow(target, request.condition);
  return choosing(target, request, (places) =>
    target.table.operations.delete({ ...request, condition, places, ...rowCommitOptionsOf(target) }),
  );
}

/** UPDATE: one row, `num_affected_rows`. */
export async function updateCommand(target: CommandTarget, request: Choosing<UpdateRequest>): Promise<CommandResult> {
  const condition = request.condition === undefined ? undefined : fixedNow(target, request.condition);
  const assignments = request.assignments.map((assignment) => ({ ...assignment, value: fixedNow(target, assignment.value) }));
  return choosing(target, request, (places) =>
    target.table.operations.update({ ...request, condition, assignments, places, ...rowCommitOptionsOf(target) }),
  );
}

/** Runs an operation with the rows that its query gives, which are there until it ends. */
async function choosing(
  { runtime, signal }: CommandTarget,
  { places }: Pick<Choosing<DeleteRequest>, 'places'>,
  operate: (places: FindPlaces | undefined) => Promise<RowOperationResult>,
): Promise<CommandResult> {
  if (places === undefined) return affected(await operate(undefined));
  return withExecution(runtime, signal, async (execution) =>
    affected(await operate((snapshotId) => relationOf(execution, places(snapshotId)))),
  );
}

/** MERGE: one row, `num_affected_rows`, `num_updated_rows`, `num_deleted_rows`, `num_inserted_rows`. */
export async function mergeCommand(
  target: CommandTarget,
  request: Omit<MergeRequest, keyof CommitOptions | 'source'> & { readonly source: Plan },
): Promise<CommandResult> {
  const { runtime, table, signal } = target;
  const autoMerge = runtime.conf.switch('spark.databricks.delta.schema.autoMerge.enabled') === true;
  const result = await withExecution(runtime, signal, async (execution) =>
    table.operations.merge({
      ...request,
      ...rowCommitOptionsOf(target),
      source: await relationOf(execution, request.source),
      condition: fixedNow(target, request.condition),
      clauses: request.clauses.map((clause) => fixedClause(target, clause)),
      schemaEvolution: request.schemaEvolution === true || autoMerge,
    }),
  );
  const row = {
    num_affected_rows: result.affectedRows,
    num_updated_rows: result.updatedRows,
    num_deleted_rows: result.deletedRows,
    num_inserted_rows: result.insertedRows,
  };
  return { schema: mergeSchema, rows: [row] };
}

/** What the session adds to every commit. */
export function commitOptionsOf({ runtime, signal }: Omit<CommandTarget, 'table'>): CommitOptions {
  return { ...sessionNotes(runtime.conf), signal };
}

/** What the session adds to every commit that changes rows. */
export function rowCommitOptionsOf({ runtime, signal }: Omit<CommandTarget, 'table'>): CommitOptions {
  return { ...sessionCommit(runtime.conf), signal };
}

/** `now()` and its kin as one instant, local times in the session's zone. */
export function fixedNow({ runtime }: Pick<CommandTarget, 'runtime'>, expression: Expression): Expression {
  return bindNow(expression, runtime.now());
}

function fixedClause(target: CommandTarget, clause: MergeClause): MergeClause {
  const fix = (expression: Expression): Expression => fixedNow(target, expression);
  const condition = clause.condition === undefined ? undefined : fix(clause.condition);
  if (clause.action === 'delete') return { ...clause, condition };
  if (clause.action === 'insert') {
    const values = clause.values === 'all' ? 'all' : clause.values.map((each) => ({ ...each, value: fix(each.value) }));
    return { ...clause, condition, values };
  }
  if (clause.on === 'matched') {
    const assignments = clause.assignments === 'all' ? 'all' : clause.assignments.map((each) => ({ ...each, value: fix(each.value) }));
    return { ...clause, condition, assignments };
  }
  return { ...clause, condition, assignments: clause.assignments.map((each) => ({ ...each, value: fix(each.value) })) };
}

function affected(result: RowOperationResult): CommandResult {
  return { schema: affectedSchema, rows: [{ num_affected_rows: result.affectedRows }] };
}
