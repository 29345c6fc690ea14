import type { Analyzed, Attribute } from '../plan/analyzed.ts';
import type { Plan } from '../plan/plan.ts';
import type { Analysis } from './analysis.ts';
import { analyzeToNames } from './analyze-projection.ts';

/** Rows under a name, and where stated their columns under others, which are then the only ones. */
export async function analyzeAlias(analysis: Analysis, plan: Plan & { readonly kind: 'alias' }, input: Analyzed): Promise<Analyzed> {
  const renamed = plan.columns === undefined || plan.columns.length === 0 ? input : await analyzeToNames(analysis, plan.columns, input);
  // A name before the columns of a join by name means those that are shown.
  const hidden = renamed.hidden?.filter(({ qualifiedOnly }) => qualifiedOnly !== true);
  return marked({ ...renamed, hidden }, (attribute) => ({ ...attribute, qualifier: plan.name }));
}

/** The same rows under other marks: attributes change, ids do not. */
export function marked(input: Analyzed, change: (attribute: Attribute) => Attribute): Analyzed {
  return { ...input, attributes: input.attributes.map(change), hidden: input.hidden?.map(change) };
}
