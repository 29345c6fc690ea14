import { AnalysisException } from '../../base/analysis-exception.ts';
import type { Relation } from '../../table/relation.ts';
import type { Plan, StreamRead } from '../plan/plan.ts';

/** The stream a plan reads; `undefined` for one over tables at rest. @throws AnalysisException for more than one. */
export function streamOf(plan: Plan): StreamRead | undefined {
  const found = streamsOf(plan);
  if (found.length <= 1) return found[0];
  throw unsupportedStream('more than one streaming source');
}

/**
 * The plan over one batch of its stream.
 *
 * @throws AnalysisException for operations whose result over a batch is not their result over the stream: aggregations, sorting, limits,
 * duplicates, set operations, and joins that keep rows for lack of a match in the stream.
 */
export function overBatch(plan: Plan, batch: Relation): Plan {
  if (streamsOf(plan).length === 0) return plan;
  switch (plan.kind) {
    case 'stream':
      return { kind: 'kept', relation: batch };
    case 'join':
      return joinOverBatch(plan, batch);
    case 'aggregate':
      throw unsupportedStream('aggregation');
    case 'sort':
      throw unsupportedStream('sorting');
    case 'limit':
      throw unsupportedStream('a limit');
    case 'distinct':
      throw unsupportedStream('removing duplicates');
    case 'set':
    case 'union-by-name':
      throw unsupportedStream('a set operation');
    default:
      return 'input' in plan ? { ...plan, input: overBatch(plan.input, batch) } : plan;
  }
}

function joinOverBatch(plan: Extract<Plan, { readonly kind: 'join' }>, batch: Relation): Plan {
  const left = streamsOf(plan.left).length > 0;
  const fits =
    plan.join === 'inner' || plan.join === 'cross' || plan.join === (left ? 'left' : 'right') || (left && isFiltering(plan.join));
  if (!fits) throw unsupportedStream(`a ${plan.join} join with the stream on the ${left ? 'left' : 'right'}`);
  return { ...plan, left: overBatch(plan.left, batch), right: overBatch(plan.right, batch) };
}

function isFiltering(join: string): boolean {
  return join === 'semi' || join === 'anti';
}

function streamsOf(plan: Plan): readonly StreamRead[] {
  if (plan.kind === 'stream') return [plan.stream];
  if ('input' in plan) return streamsOf(plan.input);
  return 'left' in plan ? [...streamsOf(plan.left), ...streamsOf(plan.right)] : [];
}

function unsupportedStream(what: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'STREAMING_OPERATION_NOT_SUPPORTED',
    sqlState: '0A000',
    kind: 'unsupported',
    message: `a streaming query with ${what} needs state between batches, which this version does not keep`,
    hint: 'do it in foreachBatch, or write the stream to a table and query that',
  });
}
