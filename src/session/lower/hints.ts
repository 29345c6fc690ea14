import type { Expression } from '../../expr/expression.ts';
import { columnsOf, mapExpression } from '../../expr/expression-tree.ts';
import type { Output } from '../plan/analyzed.ts';

/** The conditions that are about these ids alone. */
export function hintsFor(hints: readonly Expression[], ids: ReadonlySet<string>): readonly Expression[] {
  return hints.filter((hint) => idsIn(hint).every((id) => ids.has(id)));
}

/** Conditions on outputs as conditions on the input: those whose columns are all plain columns below, under the names they have there. */
export function throughOutputs(hints: readonly Expression[], outputs: readonly Output[]): readonly Expression[] {
  const below = new Map<string, readonly string[]>();
  for (const { attribute, value } of outputs) if (value.kind === 'column') below.set(attribute.id, value.path);
  return renamed(hints, below);
}

/** Conditions with ids replaced by other paths; those with an id that has none are left out. */
export function renamed(hints: readonly Expression[], paths: ReadonlyMap<string, readonly string[]>): readonly Expression[] {
  return hintsFor(hints, new Set(paths.keys())).map((hint) =>
    mapExpression(hint, (node) => {
      const path = node.kind === 'column' ? paths.get(node.path[0] ?? '') : undefined;
      return node.kind === 'column' && path !== undefined ? { ...node, path: [...path, ...node.path.slice(1)] } : node;
    }),
  );
}

function idsIn(hint: Expression): readonly string[] {
  return columnsOf(hint).map(({ path }) => path[0] ?? '');
}
