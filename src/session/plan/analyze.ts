import { throwIfAborted } from '../../base/abort.ts';
import { assertNever } from '../../base/assert.ts';
import { analyzeJoin } from './analyze-join.ts';
import { analyzeDropNulls, analyzeFill } from './analyze-nulls.ts';
import {
  analyzeAggregate,
  analyzeDistinct,
  analyzeDrop,
  analyzeRename,
  analyzeSelect,
  analyzeToNames,
  analyzeWithColumns,
} from './analyze-projection.ts';
import { analyzeSet, analyzeUnionByName } from './analyze-set.ts';
import { analyzeFiles, analyzeTable } from './analyze-source.ts';
import { type Analyzed, type Attribute, attributeColumn, type Output } from './analyzed.ts';
import { bindSortKey, bindTo } from './bind.ts';
import type { Execution } from './execution.ts';
import { lowerPlan } from './lower.ts';
import { sourceAttributes } from './outputs.ts';
import type { Plan } from './plan.ts';
import { analyzeQuery } from './query-node.ts';

/**
 * The plan with its tables opened, its names found and its columns typed. Reads logs and footers, no rows.
 *
 * @throws AnalysisException for what cannot be: unknown tables, columns, functions, types that do not go together.
 */
export async function analyzePlan(execution: Execution, plan: Plan): Promise<Analyzed> {
  throwIfAborted(execution.signal);
  switch (plan.kind) {
    case 'table':
      return analyzeTable(execution, plan.source);
    case 'files':
      return analyzeFiles(execution, plan.source);
    case 'query':
      return analyzeQuery(execution, plan, { analyze: analyzePlan, lower: lowerPlan });
    case 'rows':
      return { kind: 'rows', schema: plan.schema, batches: plan.batches, attributes: sourceAttributes(execution, plan.schema.fields) };
    case 'made':
      return { kind: 'made', plan, attributes: sourceAttributes(execution, plan.schema.fields) };
    case 'stream': {
      const table = await execution.runtime.tables.load(plan.stream.reference, execution.signal);
      const { schema } = await table.openStream(plan.stream.options, execution.signal);
      return { kind: 'stream', attributes: sourceAttributes(execution, schema.fields) };
    }
    case 'kept':
      return { kind: 'relation', relation: plan.relation, attributes: sourceAttributes(execution, plan.relation.schema.fields) };
    case 'join': {
      const left = await analyzePlan(execution, plan.left);
      return analyzeJoin(execution, plan, { left, right: await analyzePlan(execution, plan.right) });
    }
    case 'set': {
      const left = await analyzePlan(execution, plan.left);
      return analyzeSet(execution, plan.operation, { left, right: await analyzePlan(execution, plan.right) });
    }
    case 'union-by-name': {
      const left = await analyzePlan(execution, plan.left);
      return analyzeUnionByName(execution, plan.missingAllowed, { left, right: await analyzePlan(execution, plan.right) });
    }
    default:
      return analyzeUnary(execution, plan, await analyzePlan(execution, plan.input));
  }
}

type UnaryPlan = Extract<Plan, { readonly input: Plan }>;

async function analyzeUnary(execution: Execution, plan: UnaryPlan, input: Analyzed): Promise<Analyzed> {
  // Nodes that let rows through as they are let them be asked for hidden columns too.
  const columns = { attributes: input.attributes, hidden: input.hidden };
  switch (plan.kind) {
    case 'frame':
      return marked(input, (attribute) => ({ ...attribute, frames: [...attribute.frames, plan.frame] }));
    case 'alias':
      return marked(input, (attribute) => ({ ...attribute, qualifier: plan.name }));
    case 'select':
      return analyzeSelect(execution, plan.columns, input);
    case 'with-columns':
      return analyzeWithColumns(execution, plan.columns, input);
    case 'rename':
      return analyzeRename(execution, plan.names, input);
    case 'drop':
      return analyzeDrop(execution, plan.columns, input);
    case 'to-names':
      return analyzeToNames(execution, plan.names, input);
    case 'filter':
      return {
        kind: 'filter',
        condition: bindTo(plan.condition, input, execution.nowMicros),
        input,
        ...columns,
      };
    case 'sort': {
      const keys = plan.keys.map((key) => bindSortKey(key, input, execution.nowMicros));
      return { kind: 'sort', keys, input, ...columns };
    }
    case 'limit':
      return { kind: 'limit', count: plan.count, offset: plan.offset, input, ...columns };
    case 'sample':
      return { kind: 'sample', fraction: plan.fraction, seed: plan.seed, input, ...columns };
    case 'aggregate':
      return analyzeAggregate(execution, plan, input);
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

/** The same rows under other marks: attributes change, ids do not. */
function marked(input: Analyzed, change: (attribute: Attribute) => Attribute): Analyzed {
  const outputs: Output[] = input.attributes.map((attribute) => ({ attribute: change(attribute), value: attributeColumn(attribute) }));
  return { kind: 'project', outputs, input, attributes: outputs.map((output) => output.attribute), hidden: input.hidden?.map(change) };
}
