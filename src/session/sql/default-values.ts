import type { Expression } from '../../expr/expression.ts';
import type { Plan } from '../plan/plan.ts';

/** The rows of an INSERT's VALUES with the columns' defaults in place of the word DEFAULT. Deeper in a query the word is a name like others. */
export function withDefaultValues(plan: Plan, defaults: readonly Expression[]): Plan {
  if (plan.kind === 'with' || plan.kind === 'sort' || plan.kind === 'limit')
    return { ...plan, input: withDefaultValues(plan.input, defaults) };
  if (plan.kind !== 'values') return plan;
  return { ...plan, rows: plan.rows.map((row) => row.map((value, place) => (isDefault(value) ? (defaults[place] ?? value) : value))) };
}

function isDefault(value: Expression): boolean {
  return value.kind === 'column' && value.path.length === 1 && value.path[0]?.toLowerCase() === 'default';
}
