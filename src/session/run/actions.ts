import { arrowStream } from '../../codec/arrow-stream.ts';
import { literalOf } from '../../expr/bind-parameters.ts';
import type { Expression } from '../../expr/expression.ts';
import type { ColumnBatch } from '../../schema/columns.ts';
import type { StructType } from '../../schema/types.ts';
import type { Relation } from '../../table/relation.ts';
import { analyzePlan } from '../analyze/analyze.ts';
import { lowerPlan } from '../lower/lower.ts';
import { schemaOf } from '../plan/analyzed.ts';
import type { Plan } from '../plan/plan.ts';
import { refuseDuplicateNames } from '../rows/duplicate-names.ts';
import { rowsOfBatch } from '../rows/read-rows.ts';
import type { Row } from '../rows/row.ts';
import { planText } from '../show/plan-text.ts';
import { type ShowOptions, showRows } from '../show/show-rows.ts';
import { evaluationError } from './evaluation-error.ts';
import { type Execution, openExecution, type TableRead, withExecution } from './execution.ts';
import type { SessionRuntime } from './session-runtime.ts';

/** The columns of the result. Reads no rows. */
export function schemaOfPlan(runtime: SessionRuntime, plan: Plan, signal?: AbortSignal): Promise<StructType> {
  return withExecution(runtime, signal, async (execution) => schemaOf((await analyzePlan(execution, plan)).attributes));
}

/** Runs `work` on the engine's query for a plan, which is valid until it ends. */
export function withRelation<T>(
  runtime: SessionRuntime,
  plan: Plan,
  work: (relation: Relation, execution: Execution) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  return withExecution(runtime, signal, async (execution) => work(await relationOf(execution, plan), execution));
}

/** The engine's query for a plan, valid until the execution ends. */
export async function relationOf(execution: Execution, plan: Plan): Promise<Relation> {
  return lowerPlan(execution, await analyzePlan(execution, plan));
}

/** Rows of a result without columns are not told apart: there are none. */
async function* batchesOf(execution: Execution, relation: Relation): AsyncGenerator<ColumnBatch, void, undefined> {
  if (relation.schema.fields.length > 0) yield* execution.engine.read(relation, execution.signal);
}

/** The result in batches, in order, as fast as they are taken: memory is bounded by a few batches. */
export async function* batchesOfPlan(
  runtime: SessionRuntime,
  plan: Plan,
  signal?: AbortSignal,
): AsyncGenerator<ColumnBatch, void, undefined> {
  const execution = await openExecution(runtime, signal);
  try {
    yield* batchesOf(execution, await relationOf(execution, plan));
  } catch (error) {
    throw evaluationError(error, execution.readsChanges);
  } finally {
    await execution.dispose();
  }
}

/** All rows. @throws AnalysisException `COLUMN_ALREADY_EXISTS` when two columns share a name, which a row by name cannot hold. */
export function collectRows(runtime: SessionRuntime, plan: Plan, signal?: AbortSignal): Promise<Row[]> {
  return withRelation(
    runtime,
    plan,
    async (relation, execution) => {
      refuseDuplicateNames(relation.schema);
      const rows: Row[] = [];
      for await (const batch of batchesOf(execution, relation)) for (const row of rowsOfBatch(batch)) rows.push(row);
      return rows;
    },
    signal,
  );
}

/** The number of rows. */
export function countRows(runtime: SessionRuntime, plan: Plan, signal?: AbortSignal): Promise<number> {
  const counted: Expression = { kind: 'call', name: 'count', arguments: [], star: true };
  return withRelation(
    runtime,
    { kind: 'aggregate', groups: [], aggregates: [counted], input: plan },
    async (relation, { engine }) => {
      const [row] = await engine.rows(relation.sql, signal);
      return Number(row?.[0] ?? 0);
    },
    signal,
  );
}

/** The result as Spark's `show` prints it. One row more than shown is asked for, to know whether there are more. */
export function shownRows(runtime: SessionRuntime, plan: Plan, options: ShowOptions, signal?: AbortSignal): Promise<string> {
  const limited: Plan = { kind: 'limit', count: literalOf(options.rows + 1), input: plan };
  return withRelation(
    runtime,
    limited,
    async (relation, execution) => {
      const batches: ColumnBatch[] = [];
      for await (const batch of batchesOf(execution, relation)) batches.push(batch);
      const names = relation.schema.fields.map((field) => field.name);
      return showRows(names, batches, { ...options, zone: execution.now.zone?.rule });
    },
    signal,
  );
}

/** The result as an Arrow IPC stream. */
export function arrowBytes(runtime: SessionRuntime, plan: Plan, signal?: AbortSignal): Promise<Uint8Array> {
  return withRelation(runtime, plan, (relation, execution) => arrowStream(relation.schema, batchesOf(execution, relation)), signal);
}

/** Plans and what would be read of each table. */
export interface Explanation {
  /** The plan with its names found, as a tree. */
  readonly analyzed: string;
  /** The engine's. */
  readonly plan: string;
  readonly tables: readonly TableRead[];
}

export function explainPlan(runtime: SessionRuntime, plan: Plan, signal?: AbortSignal): Promise<Explanation> {
  return withExecution(runtime, signal, async (execution) => {
    const analyzed = await analyzePlan(execution, plan);
    const relation = await lowerPlan(execution, analyzed);
    return { analyzed: planText(analyzed), plan: await execution.engine.explain(relation, signal), tables: execution.reads };
  });
}
