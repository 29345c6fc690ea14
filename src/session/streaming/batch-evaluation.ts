import { serviceError } from '../../base/errors.ts';
import type { HeldRelation } from '../../engine/engine.ts';
import { quoteName } from '../../expr/sql/engine-sql.ts';
import type { ColumnBatch } from '../../schema/columns.ts';
import { concatBatches } from '../../schema/concat.ts';
import type { StructType } from '../../schema/types.ts';
import type { Relation } from '../../table/relation.ts';
import { analyzePlan } from '../analyze/analyze.ts';
import { lowerPlan } from '../lower/lower.ts';
import type { Analyzed } from '../plan/analyzed.ts';
import type { Plan, StreamRead } from '../plan/plan.ts';
import { type Execution, withExecution } from '../run/execution.ts';
import type { SessionRuntime } from '../run/session-runtime.ts';
import { KeptAggregation, keptColumns } from './kept-aggregation.ts';
import { type AggregateNode, aggregateOver, type OutputMode, streamShape } from './stream-plan.ts';
import type { StreamState } from './stream-state.ts';

/** Groups that an aggregation keeps. */
export interface StateRows {
  readonly total: number;
  /** Of these, those that the batch has rows of. */
  readonly updated: number;
}

export interface StreamedBatch {
  readonly batchId: number;
  readonly rows: Relation;
}

/** The result of a batch, valid until `use` resolves; `state` where something is kept between batches. */
export type UseOfBatch<Result> = (result: Relation, state: StateRows | undefined) => Promise<Result>;

export interface BatchEvaluationParts {
  readonly runtime: SessionRuntime;
  readonly plan: Plan;
  readonly stream: StreamRead;
  readonly mode: OutputMode;
  readonly state: StreamState;
  /** More are refused: all are held in memory, and written with each batch. */
  readonly maxGroups: number;
}

/**
 * The stream of a plan, which could be run batch by batch.
 *
 * @returns `undefined` for a plan over tables at rest.
 * @throws AnalysisException for what no batch could be: as `streamShape`, `KeptAggregation` and the analysis of a plan.
 */
export function checkedStream(runtime: SessionRuntime, plan: Plan, mode: OutputMode): Promise<StreamRead | undefined> {
  return withExecution(runtime, undefined, async (execution) => {
    const shape = streamShape(execution, await analyzePlan(execution, plan), mode);
    if (shape?.aggregate !== undefined) new KeptAggregation(execution, shape.aggregate);
    return shape?.stream;
  });
}

/** Computes a query over one batch of its stream after the other; an aggregation over all of them so far. */
export class BatchEvaluation {
  readonly #parts: BatchEvaluationParts;

  constructor(parts: BatchEvaluationParts) {
    this.#parts = parts;
  }

  /** Hands the result to `use`. @throws ServiceError `STREAM_STATE_TOO_LARGE` (invalid), and what `StreamState` throws. */
  run<Result>({ batchId, rows }: StreamedBatch, use: UseOfBatch<Result>, signal: AbortSignal): Promise<Result> {
    const { runtime, plan, stream, mode } = this.#parts;
    return withExecution(runtime, signal, async (execution) => {
      execution.readBatch(stream, rows);
      const analyzed = await analyzePlan(execution, plan);
      const node = aggregateOver(analyzed, mode, (each) => each.kind === 'relation' && each.relation === rows);
      if (node === undefined) return use(await lowerPlan(execution, analyzed), undefined);
      return this.#aggregated({ execution, analyzed, node, batchId }, use);
    });
  }

  async #aggregated<Result>(
    batch: { readonly execution: Execution; readonly analyzed: Analyzed; readonly node: AggregateNode; readonly batchId: number },
    use: UseOfBatch<Result>,
  ): Promise<Result> {
    const { execution, batchId } = batch;
    const { engine, signal } = execution;
    const aggregation = new KeptAggregation(execution, batch.node);
    const partial = await aggregation.partial();
    const before = await this.#before(execution, batchId, partial.schema);
    const merged = execution.keep(await engine.materialize(await aggregation.merged(before, partial), signal));
    const state = await this.#counted(execution, merged);
    await this.#parts.state.write(batchId, await this.#groups(execution, merged), signal);
    const result = aggregation.resultIn(batch.analyzed, merged, this.#parts.mode === 'complete' ? 'all' : 'changed');
    return use(await lowerPlan(execution, result), state);
  }

  async #before(execution: Execution, batchId: number, schema: StructType): Promise<HeldRelation | undefined> {
    if (batchId === 0) return undefined;
    const batches = await this.#parts.state.read(batchId - 1, schema, execution.signal);
    return execution.keep(await execution.engine.hold(schema, batches, execution.signal));
  }

  async #counted({ engine, signal }: Execution, merged: Relation): Promise<StateRows> {
    const [counts] = await engine.rows(`SELECT count(*), count_if("changed") FROM (${merged.sql})`, signal);
    const [total = 0, updated = 0] = (counts ?? []).map(Number);
    const { maxGroups } = this.#parts;
    if (total <= maxGroups) return { total, updated };
    throw serviceError.invalid(
      'STREAM_STATE_TOO_LARGE',
      `the aggregation has ${total} groups, more than the ${maxGroups} that a query keeps`,
      { hint: 'group by fewer keys, raise tidewater.streaming.maxStateGroups, or write the stream to a table and aggregate that' },
    );
  }

  async #groups({ engine, signal }: Execution, merged: Relation): Promise<readonly [ColumnBatch, ...ColumnBatch[]]> {
    const schema = keptColumns(merged.schema);
    const names = schema.fields.map(({ name }) => quoteName(name)).join(', ');
    const batches: ColumnBatch[] = [];
    for await (const batch of engine.read({ sql: `SELECT ${names} FROM (${merged.sql})`, schema }, signal)) batches.push(batch);
    const [first = concatBatches(schema, []), ...others] = batches;
    return [first, ...others];
  }
}
