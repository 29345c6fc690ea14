import { conjuncts, type Expression } from '../../expr/expression.ts';
import { mapExpression } from '../../expr/expression-tree.ts';
import type { Relation } from '../../table/relation.ts';
import type { QueryReference, QuerySource } from '../query/query-source.ts';
import { translateQuery } from '../query/translate-query.ts';
import { tableAt } from '../read/path-version.ts';
import { type Analyzed, type Attribute, schemaOf } from './analyzed.ts';
import type { Execution } from './execution.ts';
import { sourceAttributes } from './outputs.ts';
import type { Plan, TableSource } from './plan.ts';

/** The two passes over a plan, for what a query refers to. */
export interface PlanPasses {
  readonly analyze: (execution: Execution, plan: Plan) => Promise<Analyzed>;
  readonly lower: (execution: Execution, plan: Analyzed, hints: readonly Expression[]) => Promise<Relation>;
}

/** A query in SQL: its tables and views are looked up in the session, with the conditions it has on each. */
export async function analyzeQuery(execution: Execution, plan: Plan & { readonly kind: 'query' }, passes: PlanPasses): Promise<Analyzed> {
  const query = await translateQuery(plan.text, {
    engine: execution.engine,
    parameters: plan.parameters,
    defaults: plan.defaults,
    nowMicros: execution.nowMicros,
    signal: execution.signal,
    resolve: async (reference) => {
      const referred = referredPlan(execution, plan, reference);
      const analyzed = await passes.analyze(execution, referred);
      // What a view does not show is not to be had of it.
      const hidden = referred.kind === 'table' ? mentionedHidden(analyzed, plan.text) : [];
      return sourceOf(execution, { ...analyzed, hidden }, passes);
    },
  });
  return { kind: 'query', query, attributes: sourceAttributes(execution, query.schema.fields) };
}

function referredPlan(execution: Execution, plan: Plan & { readonly kind: 'query' }, reference: QueryReference): Plan {
  const { parts, at, changes } = reference;
  const view = parts.length === 1 ? plan.views.get((parts[0] ?? '').toLowerCase()) : undefined;
  if (view !== undefined && at === undefined && changes === undefined) return view;
  const { runtime } = execution;
  const [format = '', path = ''] = parts;
  const fileFormat = format.toLowerCase();
  if (parts.length === 2 && (fileFormat === 'parquet' || fileFormat === 'csv' || fileFormat === 'json') && path.includes('/')) {
    return { kind: 'files', source: { format: fileFormat, paths: [path], options: new Map() } };
  }
  const outOfRangeAllowed = runtime.conf.switch('spark.databricks.delta.changeDataFeed.timestampOutOfRange.enabled');
  const source: TableSource = {
    ...tableAt(runtime.tables.referenceOf(parts), at),
    changes: changes === undefined ? undefined : { ...changes, outOfRangeAllowed },
  };
  return { kind: 'table', source };
}

/** Only the hidden columns that occur in the text, be it as something else: the others are not read. */
function mentionedHidden({ hidden = [] }: Analyzed, text: string): readonly Attribute[] {
  const folded = text.toLowerCase();
  return hidden.filter(({ field }) => folded.includes(field.name.toLowerCase()));
}

function sourceOf(execution: Execution, analyzed: Analyzed, passes: PlanPasses): QuerySource {
  const { attributes, hidden = [] } = analyzed;
  const read = { ...analyzed, attributes: [...attributes, ...hidden] };
  return {
    schema: schemaOf(attributes),
    hidden: hidden.map(({ field }) => field),
    extent: extentOf(analyzed, execution.signal),
    relation: (filter) => passes.lower(execution, read, filter === undefined ? [] : conjuncts(byIds(filter, read))),
  };
}

function extentOf(analyzed: Analyzed, signal: AbortSignal | undefined): QuerySource['extent'] {
  if (analyzed.kind !== 'table' || analyzed.appendedAfter !== undefined) return undefined;
  return (columns) => analyzed.table.extent(analyzed.snapshot, columns, signal);
}

/** A condition on columns by name as one on attributes by id. */
function byIds(filter: Expression, { attributes }: Analyzed): Expression {
  const ids = new Map(attributes.map(({ id, field }) => [field.name, id]));
  return mapExpression(filter, (node) => {
    if (node.kind !== 'column' || node.type === undefined) return node;
    const [name = '', ...members] = node.path;
    return { kind: 'column', path: [ids.get(name) ?? name, ...members], type: node.type };
  });
}
