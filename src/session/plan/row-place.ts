import type { Expression } from '../../expr/expression.ts';
import { someNode } from '../../expr/expression-tree.ts';

/** Where a row stands in the input of its node, from 0. No name a user writes has a blank at its end. */
const name = 'row place ';

export const rowPlace: Expression = { kind: 'column', path: [name], type: { kind: 'long' } };

/** Whether any of the expressions asks for the places of rows. */
export function asksForPlaces(expressions: readonly Expression[]): boolean {
  return expressions.some((expression) => someNode(expression, (node) => node.kind === 'column' && node.path[0] === name));
}
