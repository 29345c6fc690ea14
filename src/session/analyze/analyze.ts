import { throwIfAborted } from '../../base/abort.ts';
import { assertNever } from '../../base/assert.ts';
import { requireCondition, requireCount } from '../../expr/clause-rules.ts';
import type { Expression, SortKey } from '../../expr/expression.ts';
import { expressionType } from '../../expr/expression-type.ts';
import { requireOrdered } from '../../expr/require-comparable.ts';
import type { Relation } from '../../table/relation.ts';
import { lowerForTypes } from '../lower/lower.ts';
import { type Analyzed, attributeColumn } from '../plan/analyzed.ts';
import type { Plan } from '../plan/plan.ts';
import type { Execution } from '../run/execution.ts';
import { Analysis, emptyScope, type QueryScope } from './analysis.ts';
import { analyzeAlias, marked } from './analyze-alias.ts';
import { analyzeFunction } from './analyze-function.ts';
import { analyzeLateralView } from './analyze-generators.ts';
import { analyzeJoin } from './analyze-join.ts';
import { analyzeNamed } from './analyze-named.ts';
import { analyzeDropNulls, analyzeFill } from './analyze-nulls.ts';
import { analyzePivot, analyzeUnpivot } from './analyze-pivot.ts';
import { analyzeDistinct, analyzeDrop, analyzeRename, analyzeToNames, analyzeWithColumns } from './analyze-projection.ts';
import { analyzeRecursion } from './analyze-recursion.ts';
import { analyzeAggregate, analyzeSelect, positionOf, sortedByAll } from './analyze-select.ts';
import { analyzeSet, analyzeUnionByName } from './analyze-set.ts';
import { analyzeFiles, analyzeLive, analyzeTable } from './analyze-source.ts';
import { analyzeQuery, analyzeWith } from './analyze-text.ts';
import { analyzeValues } from './analyze-values.ts';
import { sourceAttributes } from './outputs.ts';

/**
 * The plan with its tables opened, its names found and its columns typed. Reads logs and footers, no rows. The engine has nothing against it.
 *
 * @throws AnalysisException for what cannot be: unknown tables, columns, functions, types that do not go together.
 */
export async function analyzePlan(execution: Execution, plan: Plan, scope: QueryScope = emptyScope): Promise<Analyzed> {
  const analyzed = await new Analysis(execution, scope, analyzeNode).analyze(plan);
  await execution.engine.describe(await lowerForTypes(execution, analyzed), execution.signal);
  return analyzed;
}

async function analyzeNode(analysis: Analysis, plan: Plan): Promise<Analyzed> {
  const { execution } = analysis;
  throwIfAborted(execution.signal);
  switch (plan.kind) {
    case 'table':
      return analyzeTable(analysis, plan.source);
    case 'live':
      return analyzeLive(execution, plan.source, undefined);
    case 'files':
      return analyzeFiles(execution, plan.source);
    case 'query':
      return analyzeQuery(analysis, plan);
    case 'with':
      return analyzeWith(analysis, plan);
    case 'recursion':
      return analyzeRecursion(analysis, plan);
    case 'named':
      return analyzeNamed(analysis, plan);
    case 'function':
      return analyzeFunction(analysis, plan);
    case 'values':
      return analyzeValues(analysis, plan.rows);
    case 'one-row':
      return { kind: 'one-row', attributes: [] };
    case 'rows':
      return { kind: 'rows', schema: plan.schema, batches: plan.batches, attributes: sourceAttributes(execution, plan.schema.fields) };
    case 'made':
      return { kind: 'made', plan, attributes: sourceAttributes(execution, plan.schema.fields) };
    case 'stream':
      return analyzeStream(execution, plan);
    case 'kept':
      return analyzeRelation(execution, plan.relation);
    case 'join':
      return analyzeJoin(analysis, plan);
    case 'set': {
      const left = await analysis.analyze(plan.left);
      return analyzeSet(execution, plan.operation, { left, right: await analysis.analyze(plan.right) });
    }
    case 'union-by-name': {
      const left = await analysis.analyze(plan.left);
      return analyzeUnionByName(analysis, plan.missingAllowed, { left, right: await analysis.analyze(plan.right) });
    }
    default:
      return analyzeUnary(analysis, plan, await analysis.analyze(plan.input));
  }
}

function analyzeRelation(execution: Execution, relation: Relation): Analyzed {
  return { kind: 'relation', relation, attributes: sourceAttributes(execution, relation.schema.fields) };
}

async function analyzeStream(execution: Execution, { stream }: Plan & { readonly kind: 'stream' }): Promise<Analyzed> {
  const batch = execution.batchOf(stream);
  if (batch !== undefined) return analyzeRelation(execution, batch);
  const table = await execution.runtime.tables.load(stream.reference, execution.signal);
  const { schema } = await table.openStream(stream.options, execution.signal);
  return { kind: 'stream', stream, attributes: sourceAttributes(execution, schema.fields) };
}

type UnaryPlan = Exclude<Extract<Plan, { readonly input: Plan }>, { readonly kind: 'with' }>;

async function analyzeUnary(analysis: Analysis, plan: UnaryPlan, input: Analyzed): Promise<Analyzed> {
  const { execution } = analysis;
  // Nodes that let rows through as they are let them be asked for hidden columns too.
  const columns = { attributes: input.attributes, hidden: input.hidden };
  switch (plan.kind) {
    case 'frame':
      return marked(input, (attribute) => ({ ...attribute, frames: [...attribute.frames, plan.frame] }));
    case 'alias':
      return analyzeAlias(analysis, plan, input);
    case 'select':
      return analyzeSelect(analysis, plan, input);
    case 'generate':
      return analyzeLateralView(analysis, plan, input);
    case 'pivot':
      return analyzePivot(analysis, plan, input);
    case 'unpivot':
      return analyzeUnpivot(analysis, plan, input);
    case 'with-columns':
      if (plan.presentOnly === true) for (const { name } of plan.columns) await analysis.bind({ kind: 'column', path: [name] }, input);
      return analyzeWithColumns(analysis, plan.columns, input);
    case 'rename':
      return analyzeRename(analysis, plan.names, input);
    case 'drop':
      return analyzeDrop(analysis, plan.columns, input);
    case 'to-names':
      return analyzeToNames(analysis, plan.names, input);
    case 'filter': {
      const condition = await analysis.bind(plan.condition, input);
      requireCondition('WHERE', condition);
      return { kind: 'filter', condition, input, ...columns };
    }
    case 'sort': {
      const keys: SortKey[] = [];
      for (const key of sortedByAll(plan.keys, input.attributes)) keys.push(await boundKey(analysis, key, input));
      return { kind: 'sort', keys, input, ...columns };
    }
    case 'limit':
      return {
        kind: 'limit',
        count: await boundCount(analysis, 'LIMIT', plan.count),
        offset: await boundCount(analysis, 'OFFSET', plan.offset),
        input,
        ...columns,
      };
    case 'sample':
      return { kind: 'sample', fraction: plan.fraction, seed: plan.seed, input, ...columns };
    case 'aggregate':
      return analyzeAggregate(analysis, plan, input);
    case 'distinct':
      return analyzeDistinct(plan.columns, input);
    case 'fill':
      return analyzeFill(execution, plan, input);
    case 'drop-nulls':
      return analyzeDropNulls(plan, input);
    default:
      return assertNever(plan);
  }
}

/** A number is the place of a column in queries that have no select list of their own; a DataFrame's sort has only columns. */
async function boundKey(analysis: Analysis, key: SortKey, input: Analyzed): Promise<SortKey> {
  const place = positionOf(key.expression, input.attributes.length, 'ORDER BY');
  const attribute = place === undefined ? undefined : input.attributes[place];
  const bound = attribute === undefined ? await analysis.bindSortKey(key, input) : { ...key, expression: attributeColumn(attribute) };
  requireOrdered(expressionType(bound.expression));
  return bound;
}

async function boundCount(analysis: Analysis, clause: 'LIMIT' | 'OFFSET', value: Expression | undefined): Promise<Expression | undefined> {
  if (value === undefined) return undefined;
  const bound = await analysis.within({ outer: [] }).bind(value, { attributes: [] });
  requireCount(clause, bound);
  return bound;
}
