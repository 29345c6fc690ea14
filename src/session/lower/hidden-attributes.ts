import type { Expression } from '../../expr/expression.ts';
import { columnsOf } from '../../expr/expression-tree.ts';
import { type Analyzed, type Attribute, attributeColumn, inputsOf } from '../plan/analyzed.ts';
import { subqueryQualifier } from '../plan/subquery-name.ts';
import type { Execution } from '../run/execution.ts';

/**
 * The plan with the hidden columns that its expressions name among the attributes of their tables, and of the nodes from there up to where
 * they are named. A plan that names none stays as it is.
 */
export function withNamedHidden(plan: Analyzed, execution: Execution): Analyzed {
  const hidden = new Set<string>();
  const named = new Set<string>();
  const look = (node: Analyzed): void => {
    for (const { id } of node.hidden ?? []) hidden.add(id);
    for (const expression of expressionsOf(node)) {
      for (const { path } of columnsOf(expression)) named.add(path[0] ?? '');
      for (const id of subqueriesOf(expression)) visit(execution.subquery(id)?.query, look);
    }
  };
  visit(plan, look);
  const used = new Set([...named].filter((id) => hidden.has(id)));
  return used.size === 0 ? plan : shown(plan, used);
}

/** The queries that stand in an expression, by their names there. */
export function subqueriesOf(expression: Expression): readonly string[] {
  return columnsOf(expression).flatMap(({ path, qualifier }) => (qualifier === subqueryQualifier ? path.slice(0, 1) : []));
}

function visit(plan: Analyzed | undefined, look: (node: Analyzed) => void): void {
  if (plan === undefined) return;
  look(plan);
  for (const input of inputsOf(plan)) visit(input, look);
}

/** The expressions of a node itself. */
export function expressionsOf(plan: Analyzed): readonly Expression[] {
  switch (plan.kind) {
    case 'project':
      return plan.outputs.map(({ value }) => value);
    case 'generate':
      return [plan.argument];
    case 'filter':
      return [plan.condition];
    case 'sort':
      return plan.keys.map(({ expression }) => expression);
    case 'aggregate':
      return [
        ...plan.groups.flatMap(({ sets }) => sets.flat()),
        ...(plan.having === undefined ? [] : [plan.having]),
        ...plan.outputs.map(({ value }) => value),
      ];
    case 'join':
      return plan.condition === undefined ? [] : [plan.condition];
    default:
      return [];
  }
}

function shown(plan: Analyzed, used: ReadonlySet<string>): Analyzed {
  const own = new Set(plan.attributes.map(({ id }) => id));
  const added = (plan.hidden ?? []).filter(({ id }) => used.has(id) && !own.has(id));
  const attributes: readonly Attribute[] = [...plan.attributes, ...added];
  if ('left' in plan) return { ...plan, attributes, left: shown(plan.left, used), right: shown(plan.right, used) };
  if (!('input' in plan)) return { ...plan, attributes };
  const input = shown(plan.input, used);
  if (plan.kind !== 'project') return { ...plan, attributes, input };
  return {
    ...plan,
    attributes,
    input,
    outputs: [...plan.outputs, ...added.map((attribute) => ({ attribute, value: attributeColumn(attribute) }))],
  };
}
