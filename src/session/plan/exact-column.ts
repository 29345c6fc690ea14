import type { Expression } from '../../expr/expression.ts';
import type { Attribute } from './analyzed.ts';

const exactMark = '\u0001exact';

/** Stands for one attribute, whatever its name. */
export function exactColumn(attribute: Attribute): Expression {
  return { kind: 'column', path: [exactMark, attribute.id] };
}

/** The id of the attribute that the expression stands for exactly; `undefined` for expressions of users. */
export function exactId(value: Expression): string | undefined {
  return value.kind === 'column' && value.path[0] === exactMark ? value.path[1] : undefined;
}
