import { AnalysisException } from '../../base/analysis-exception.ts';
import { hasAggregate, someNode } from '../../expr/expression-tree.ts';
import { expressionsOf, subqueriesOf } from '../lower/hidden-attributes.ts';
import { type Analyzed, inputsOf } from '../plan/analyzed.ts';
import type { StreamRead } from '../plan/plan.ts';
import type { Execution } from '../run/execution.ts';

/** What of the result a query gives its sink with each batch, as Spark names it: new rows, all rows, rows that changed. */
export type OutputMode = 'append' | 'complete' | 'update';

export const outputModes: readonly OutputMode[] = ['append', 'complete', 'update'];

/** The node that aggregates, where a stream is read by one: with keys, or with a select list alone. */
export type AggregateNode = Analyzed & { readonly kind: 'aggregate' | 'project' };

/** How a query runs batch by batch. */
export interface StreamShape {
  readonly stream: StreamRead;
  /** Where rows of several batches become one. Nodes below work on the rows of a batch, those above on all groups. */
  readonly aggregate: AggregateNode | undefined;
}

/**
 * What a query over a stream needs, once its names are found.
 *
 * @returns `undefined` for a query over tables at rest.
 * @throws AnalysisException `STREAMING_OPERATION_NOT_SUPPORTED` for operations whose result over a batch is not their result over the stream:
 * sorting and limits (but of a complete result), duplicates, set operations, joins that keep rows for lack of a match in the stream, a second
 * aggregation, a second stream; `STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION`; `NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING`.
 */
export function streamShape(execution: Execution, plan: Analyzed, mode: OutputMode): StreamShape | undefined {
  const nodes = nodesOf(execution, plan);
  const [first, ...others] = nodes.flatMap(({ node, inside }) => (node.kind === 'stream' ? [{ stream: node.stream, inside }] : []));
  if (first === undefined) return undefined;
  if (others.length > 0) throw unsupportedStream('more than one streaming source');
  if (first.inside === 'expression') throw unsupportedStream('a stream inside of an expression');
  const aggregate = aggregateOver(plan, mode, ({ kind }) => kind === 'stream');
  if (mode === 'append' && aggregate !== undefined) throw wrongMode(mode, 'streaming aggregations without watermark');
  if (mode === 'complete' && aggregate === undefined) throw wrongMode(mode, 'no streaming aggregations');
  return { stream: first.stream, aggregate };
}

/** @throws AnalysisException `STREAMING_OUTPUT_MODE.INVALID`. */
export function outputModeOf(text: string): OutputMode {
  const mode = outputModes.find((each) => each === text.toLowerCase());
  if (mode !== undefined) return mode;
  throw new AnalysisException({
    errorClass: 'STREAMING_OUTPUT_MODE.INVALID',
    message: `Invalid streaming output mode: ${text}. Accepted output modes are 'Append', 'Complete', 'Update'.`,
    parameters: { outputMode: text },
  });
}

interface Found {
  readonly node: Analyzed;
  readonly inside: 'rows' | 'expression';
}

function nodesOf(execution: Execution, plan: Analyzed, inside: Found['inside'] = 'rows'): readonly Found[] {
  const asked = expressionsOf(plan)
    .flatMap(subqueriesOf)
    .flatMap((id) => execution.subquery(id)?.query ?? []);
  return [
    { node: plan, inside },
    ...below(plan).flatMap((input) => nodesOf(execution, input, inside)),
    ...asked.flatMap((query) => nodesOf(execution, query, 'expression')),
  ];
}

const below = (plan: Analyzed): readonly Analyzed[] => (plan.kind === 'mention' ? [plan.definition] : inputsOf(plan));

type IsSource = (node: Analyzed) => boolean;

function reads(plan: Analyzed, isSource: IsSource): boolean {
  return isSource(plan) || below(plan).some((input) => reads(input, isSource));
}

/** The aggregation between a node and the one source below it that is streamed. @throws as `streamShape`. */
export function aggregateOver(plan: Analyzed, mode: OutputMode, isSource: IsSource): AggregateNode | undefined {
  const input = below(plan).find((each) => reads(each, isSource));
  if (input === undefined) return undefined;
  const found = aggregateOver(input, mode, isSource);
  const whole = found !== undefined && mode === 'complete';
  switch (plan.kind) {
    case 'aggregate':
    case 'project':
      return aggregateHere(plan, found);
    case 'join':
      requireJoin(plan, reads(plan.left, isSource));
      return found;
    case 'sort':
      if (!whole) throw unsupportedStream('sorting');
      return found;
    case 'limit':
      if (!whole) throw unsupportedStream('a limit');
      return found;
    case 'mention':
      if (found !== undefined) throw unsupportedStream('an aggregation in a query of WITH', 'write the query in FROM');
      return undefined;
    case 'distinct':
      throw unsupportedStream('removing duplicates');
    case 'set':
    case 'recursion':
      throw unsupportedStream('a set operation');
    default:
      return found;
  }
}

function aggregateHere(plan: AggregateNode, found: AggregateNode | undefined): AggregateNode | undefined {
  if (plan.outputs.some(({ value }) => someNode(value, (node) => node.kind === 'call' && node.over !== undefined))) {
    throw new AnalysisException({
      errorClass: 'NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING',
      kind: 'unsupported',
      message: 'Window function is not supported on streaming DataFrames/Datasets.',
      hint: 'do it in foreachBatch, or write the stream to a table and query that',
    });
  }
  if (plan.kind === 'project' && !plan.outputs.some(({ value }) => hasAggregate(value))) return found;
  if (found !== undefined) throw unsupportedStream('more than one aggregation');
  return plan;
}

function requireJoin(plan: Analyzed & { readonly kind: 'join' }, left: boolean): void {
  const filtering = plan.join === 'semi' || plan.join === 'anti';
  const fits = plan.join === 'inner' || plan.join === 'cross' || plan.join === (left ? 'left' : 'right') || (left && filtering);
  if (!fits) throw unsupportedStream(`a ${plan.join} join with the stream on the ${left ? 'left' : 'right'}`);
}

function wrongMode(mode: OutputMode, operation: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION',
    kind: 'unsupported',
    message: `Invalid streaming output mode: ${mode}. This output mode is not supported for ${operation} on streaming DataFrames/Datasets.`,
    parameters: { outputMode: mode, operation },
    hint: mode === 'append' ? "use outputMode('complete') or outputMode('update')" : 'use outputMode("append")',
  });
}

export function unsupportedStream(
  what: string,
  hint = 'do it in foreachBatch, or write the stream to a table and query that',
): AnalysisException {
  return new AnalysisException({
    errorClass: 'STREAMING_OPERATION_NOT_SUPPORTED',
    kind: 'unsupported',
    message: `a streaming query with ${what} needs state between batches, which this version does not keep`,
    hint,
  });
}
