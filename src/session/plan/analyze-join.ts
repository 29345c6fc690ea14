import { AnalysisException } from '../../base/analysis-exception.ts';
import { conjunction, type Expression } from '../../expr/expression.ts';
import { attributeNamed } from './analyze-projection.ts';
import { type Analyzed, type Attribute, attributeColumn, type Nameable, type Output } from './analyzed.ts';
import { bindTo } from './bind.ts';
import type { Execution } from './execution.ts';
import { newAttribute } from './outputs.ts';
import type { Plan } from './plan.ts';

type JoinPlan = Plan & { readonly kind: 'join' };

interface Sides {
  readonly left: Analyzed;
  readonly right: Analyzed;
}

/**
 * A join. Columns joined by name come out once: the left one's, the right one's of a right join, whichever has a value of a full join.
 *
 * @throws AnalysisException `UNRESOLVED_USING_COLUMN_FOR_JOIN` for a name that a side lacks.
 */
export function analyzeJoin(execution: Execution, plan: JoinPlan, sides: Sides): Analyzed {
  const { left, right } = sides;
  const leftOnly = plan.join === 'semi' || plan.join === 'anti';
  const behind = (columns: 'attributes' | 'hidden'): readonly Attribute[] => [
    ...nullableWhen(left[columns] ?? [], ['right', 'full'], plan),
    ...nullableWhen(right[columns] ?? [], ['left', 'full'], plan),
  ];
  const both = behind('attributes');
  const { attributes, hidden = [] } = leftOnly ? left : { attributes: both, hidden: behind('hidden') };
  if (plan.using === undefined || plan.using.length === 0) {
    const condition = plan.condition === undefined ? undefined : bindTo(plan.condition, bothSides(left, right), execution.nowMicros);
    const join = condition === undefined && plan.join === 'inner' ? 'cross' : plan.join;
    return { kind: 'join', join, condition, left, right, attributes, hidden };
  }
  const pairs = plan.using.map((name) => ({ left: usingColumn(name, left, 'left'), right: usingColumn(name, right, 'right') }));
  const condition = conjunction(
    pairs.map(
      (pair): Expression => ({
        kind: 'binary',
        operator: '=',
        left: attributeColumn(pair.left),
        right: attributeColumn(pair.right),
      }),
    ),
  );
  const join: Analyzed = { kind: 'join', join: plan.join, condition, left, right, attributes, hidden };
  if (leftOnly) return join;
  const joined = new Set(pairs.flatMap((pair) => [pair.left.id, pair.right.id]));
  const outputs = [
    ...pairs.map((pair) => usingOutput(execution, plan, pair)),
    ...both.filter(({ id }) => !joined.has(id)).map((attribute) => ({ attribute, value: attributeColumn(attribute) })),
  ];
  return { kind: 'project', outputs, input: join, attributes: outputs.map(({ attribute }) => attribute), hidden };
}

function bothSides(left: Analyzed, right: Analyzed): Nameable {
  return { attributes: [...left.attributes, ...right.attributes], hidden: [...(left.hidden ?? []), ...(right.hidden ?? [])] };
}

function usingOutput(execution: Execution, plan: JoinPlan, pair: { readonly left: Attribute; readonly right: Attribute }): Output {
  if (plan.join === 'right') return { attribute: pair.right, value: attributeColumn(pair.right) };
  if (plan.join !== 'full') return { attribute: pair.left, value: attributeColumn(pair.left) };
  const value: Expression = { kind: 'call', name: 'coalesce', arguments: [attributeColumn(pair.left), attributeColumn(pair.right)] };
  return { attribute: newAttribute(execution, pair.left.field.name, { ...pair.left.field, nullable: true }), value };
}

/** Columns of the side that an outer join may leave without a row. */
function nullableWhen(columns: readonly Attribute[], joins: readonly JoinPlan['join'][], plan: JoinPlan): readonly Attribute[] {
  if (!joins.includes(plan.join)) return columns;
  return columns.map((attribute) => ({ ...attribute, field: { ...attribute.field, nullable: true } }));
}

function usingColumn(name: string, side: Analyzed, which: 'left' | 'right'): Attribute {
  try {
    return attributeNamed(name, side);
  } catch (cause) {
    const suggestion = side.attributes.map(({ field }) => `\`${field.name}\``).join(', ');
    throw new AnalysisException({
      errorClass: 'UNRESOLVED_USING_COLUMN_FOR_JOIN',
      sqlState: '42703',
      message: `USING column \`${name}\` cannot be resolved on the ${which} side of the join. The ${which}-side columns: [${suggestion}].`,
      parameters: { colName: `\`${name}\``, side: which, suggestion },
      cause,
    });
  }
}
