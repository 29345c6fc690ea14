import type { Analyzed, NamedQuery } from '../plan/analyzed.ts';
import type { NamedPlan, Plan } from '../plan/plan.ts';
import { withDefaultValues } from '../sql/default-values.ts';
import { parseSelect } from '../sql/parse-select.ts';
import { type Analysis, emptyScope } from './analysis.ts';

/**
 * A query in SQL.
 *
 * @throws ParseException with the place in the text; AnalysisException for names, types and functions that do not fit.
 */
export function analyzeQuery(analysis: Analysis, plan: Plan & { readonly kind: 'query' }): Promise<Analyzed> {
  const { views, parameters = {}, defaults = [] } = plan;
  return analysis.within({ ...emptyScope, views, parameters }).analyze(withDefaultValues(parseSelect(plan.text, parameters), defaults));
}

/** A query with those it names. Each may use the ones before it, and sees no rows of the queries around. */
export async function analyzeWith(analysis: Analysis, plan: Plan & { readonly kind: 'with' }): Promise<Analyzed> {
  const subqueries = new Map([...analysis.scope.subqueries, ...plan.subqueries]);
  const named = new Map(analysis.scope.named);
  const queries: NamedQuery[] = [];
  for (const query of plan.queries) {
    const made = namedQuery(analysis.within({ outer: [], named: new Map(named), subqueries }), query);
    queries.push(made);
    named.set(query.name.toLowerCase(), made);
  }
  const input = await analysis.within({ named, subqueries }).analyze(plan.input);
  const used = queries.filter(({ mentions }) => mentions > 0);
  // What a query does not show is not to be had of it.
  if (used.length === 0) return { ...input, hidden: undefined };
  return { kind: 'with', queries: used, input, attributes: input.attributes };
}

function namedQuery(analysis: Analysis, { columns, plan }: NamedPlan): NamedQuery {
  let analyzing: Promise<Analyzed> | undefined;
  const analyzed = (): Promise<Analyzed> => {
    analyzing ??= analysis.analyze(plan);
    return analyzing;
  };
  return { id: `with_${analysis.execution.nextNumber()}`, columns, analyzed, mentions: 0 };
}
