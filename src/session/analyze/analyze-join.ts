import { AnalysisException } from '../../base/analysis-exception.ts';
import { requireCondition } from '../../expr/clause-rules.ts';
import { conjunction, type Expression } from '../../expr/expression.ts';
import { type Analyzed, type Attribute, attributeColumn, type Nameable, type Output } from '../plan/analyzed.ts';
import type { Plan } from '../plan/plan.ts';
import type { Execution } from '../run/execution.ts';
import type { Analysis } from './analysis.ts';
import { newAttribute } from './outputs.ts';
import { unresolvedUsing } from './using-column.ts';

type JoinPlan = Plan & { readonly kind: 'join' };

/**
 * A join. Columns joined by name come out once: the left one's, the right one's of a right join, whichever has a value of a full join. The
 * others are there for who names their side.
 *
 * @throws AnalysisException `UNRESOLVED_USING_COLUMN_FOR_JOIN` 42703 for a name that a side lacks, `AMBIGUOUS_REFERENCE` 42704.
 */
export async function analyzeJoin(analysis: Analysis, plan: JoinPlan): Promise<Analyzed> {
  const left = await analysis.analyze(plan.left);
  const { outer } = analysis.scope;
  const right = await analysis.within({ outer: plan.lateral === true ? [left, ...outer] : outer }).analyze(plan.right);
  const leftOnly = plan.join === 'semi' || plan.join === 'anti';
  const behind = (columns: 'attributes' | 'hidden'): readonly Attribute[] => [
    ...nullableWhen(left[columns] ?? [], ['right', 'full'], plan),
    ...nullableWhen(right[columns] ?? [], ['left', 'full'], plan),
  ];
  const both = behind('attributes');
  const { attributes, hidden = [] } = leftOnly ? left : { attributes: both, hidden: behind('hidden') };
  const node = { kind: 'join', lateral: plan.lateral, left, right, attributes, hidden } as const;
  const using = plan.natural === true ? commonNames(left, right) : (plan.using ?? []);
  if (using.length === 0) {
    const condition = plan.condition === undefined ? undefined : await analysis.bind(plan.condition, bothSides(left, right));
    if (condition !== undefined) requireCondition('JOIN', condition);
    return { ...node, join: condition === undefined && plan.join === 'inner' ? 'cross' : plan.join, condition };
  }
  const pairs = using.map((name) => ({ left: usingColumn(name, left, 'left'), right: usingColumn(name, right, 'right') }));
  const equal = pairs.map((pair): Expression => {
    const [one, other] = [attributeColumn(pair.left), attributeColumn(pair.right)];
    return { kind: 'binary', operator: '=', left: one, right: other };
  });
  const join: Analyzed = { ...node, join: plan.join, condition: conjunction(equal) };
  if (leftOnly) return join;
  const merged = pairs.map((pair) => usingOutput(analysis.execution, plan, pair));
  const joined = new Set(pairs.flatMap((pair) => [pair.left.id, pair.right.id]));
  const outputs = [
    ...merged,
    ...both.filter(({ id }) => !joined.has(id)).map((attribute) => ({ attribute, value: attributeColumn(attribute) })),
  ];
  const shown = new Set(merged.map(({ attribute }) => attribute.id));
  const sides = both.filter(({ id }) => joined.has(id) && !shown.has(id)).map((attribute) => ({ ...attribute, qualifiedOnly: true }));
  return { kind: 'project', outputs, input: join, attributes: outputs.map(({ attribute }) => attribute), hidden: [...sides, ...hidden] };
}

function bothSides(left: Analyzed, right: Analyzed): Nameable {
  return { attributes: [...left.attributes, ...right.attributes], hidden: [...(left.hidden ?? []), ...(right.hidden ?? [])] };
}

function usingOutput(execution: Execution, plan: JoinPlan, pair: { readonly left: Attribute; readonly right: Attribute }): Output {
  const { name } = pair.left.field;
  if (plan.join === 'right') {
    return { attribute: { ...pair.right, field: { ...pair.right.field, name } }, value: attributeColumn(pair.right) };
  }
  if (plan.join !== 'full') return { attribute: pair.left, value: attributeColumn(pair.left) };
  const value: Expression = { kind: 'call', name: 'coalesce', arguments: [attributeColumn(pair.left), attributeColumn(pair.right)] };
  return { attribute: newAttribute(execution, name, { ...pair.left.field, nullable: true }), value };
}

/** Columns of the side that an outer join may leave without a row. */
function nullableWhen(columns: readonly Attribute[], joins: readonly JoinPlan['join'][], plan: JoinPlan): readonly Attribute[] {
  if (!joins.includes(plan.join)) return columns;
  return columns.map((attribute) => ({ ...attribute, field: { ...attribute.field, nullable: true } }));
}

function commonNames(left: Analyzed, right: Analyzed): readonly string[] {
  const names = new Set(right.attributes.map(({ field }) => field.name.toLowerCase()));
  return left.attributes.map(({ field }) => field.name).filter((name) => names.has(name.toLowerCase()));
}

function usingColumn(name: string, side: Analyzed, which: 'left' | 'right'): Attribute {
  const [found, ...others] = side.attributes.filter(({ field }) => field.name.toLowerCase() === name.toLowerCase());
  if (found !== undefined && others.length === 0) return found;
  if (found === undefined)
    throw unresolvedUsing(
      name,
      which,
      side.attributes.map(({ field }) => field),
    );
  throw new AnalysisException({
    errorClass: 'AMBIGUOUS_REFERENCE',
    message: `Reference \`${name}\` is ambiguous on the ${which} side of the join.`,
  });
}
