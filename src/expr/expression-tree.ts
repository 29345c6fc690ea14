import { assertNever } from '../base/assert.ts';
import type { Expression, Window } from './expression.ts';
import { findFunction } from './functions.ts';

/** The expression with `change` applied to each direct part; the same object when no part changes. */
export function mapChildren(expression: Expression, change: (child: Expression) => Expression): Expression {
  const parts = childrenOf(expression);
  const changed = parts.map(change);
  return parts.every((part, index) => part === changed[index]) ? expression : rebuild(expression, changed);
}

/** Applies `change` to every node from the leaves up; the same object when nothing changes. */
export function mapExpression(expression: Expression, change: (node: Expression) => Expression): Expression {
  return change(mapChildren(expression, (child) => mapExpression(child, change)));
}

/** The direct parts, in the order of the text. */
export function childrenOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'column':
    case 'literal':
    case 'parameter':
    case 'star':
      return [];
    case 'unary':
    case 'is':
    case 'cast':
    case 'member':
    case 'alias':
      return [expression.operand];
    case 'binary':
    case 'is-distinct':
      return [expression.left, expression.right];
    case 'in':
      return [expression.operand, ...expression.options];
    case 'between':
      return [expression.operand, expression.low, expression.high];
    case 'like':
      return [expression.operand, expression.pattern];
    case 'case':
      return [
        ...optional(expression.operand),
        ...expression.branches.flatMap(({ when, then }) => [when, then]),
        ...optional(expression.otherwise),
      ];
    case 'call':
      return [...expression.arguments, ...optional(expression.filter), ...windowParts(expression.over)];
    case 'element':
      return [expression.operand, expression.index];
    case 'lambda':
      return [expression.body];
    default:
      return assertNever(expression);
  }
}

/** Whether any node of the tree passes the test. */
export function someNode(expression: Expression, test: (node: Expression) => boolean): boolean {
  return test(expression) || childrenOf(expression).some((child) => someNode(child, test));
}

export interface ColumnReference {
  readonly path: readonly string[];
  readonly qualifier: string | undefined;
}

/** The columns an expression refers to, each once, in the order of the text; parameters of lambdas are no columns. */
export function columnsOf(expression: Expression): readonly ColumnReference[] {
  const found = new Map<string, ColumnReference>();
  const visit = (node: Expression, hidden: ReadonlySet<string>): void => {
    if (node.kind === 'column' && !(node.qualifier === undefined && hidden.has((node.path[0] ?? '').toLowerCase()))) {
      // Names may hold anything but U+0000, which the joined key needs apart.
      const key = [node.qualifier ?? '', ...node.path].join('\0');
      if (!found.has(key)) found.set(key, { path: node.path, qualifier: node.qualifier });
    }
    const inner = node.kind === 'lambda' ? new Set([...hidden, ...node.parameters.map((name) => name.toLowerCase())]) : hidden;
    for (const child of childrenOf(node)) visit(child, inner);
  };
  visit(expression, new Set());
  return [...found.values()];
}

/** Whether the same row always gives the same value: no `rand()`, `uuid()`; the current time counts as fixed. */
export function isDeterministic(expression: Expression): boolean {
  return !someNode(expression, (node) => node.kind === 'call' && findFunction(node.name)?.volatile === true);
}

/** Whether an aggregate function takes part that is not a window function. */
export function hasAggregate(expression: Expression): boolean {
  return someNode(expression, isAggregate);
}

/** Whether the node itself is the call of an aggregate function that is not a window function. */
export function isAggregate(node: Expression): node is Extract<Expression, { readonly kind: 'call' }> {
  return node.kind === 'call' && node.over === undefined && findFunction(node.name)?.kind === 'aggregate';
}

function optional(part: Expression | undefined): readonly Expression[] {
  return part === undefined ? [] : [part];
}

function windowParts(window: Window | undefined): readonly Expression[] {
  return window === undefined ? [] : [...window.partitionBy, ...window.orderBy.map((key) => key.expression)];
}

/** Puts parts, in the order of `childrenOf`, in the place of the present ones. */
function rebuild(expression: Expression, parts: readonly Expression[]): Expression {
  let at = 0;
  const next = (present: Expression): Expression => parts[at++] ?? present;
  const nextOptional = (present: Expression | undefined): Expression | undefined => (present === undefined ? undefined : next(present));
  switch (expression.kind) {
    case 'column':
    case 'literal':
    case 'parameter':
    case 'star':
      return expression;
    case 'unary':
    case 'is':
    case 'cast':
    case 'member':
    case 'alias':
      return { ...expression, operand: next(expression.operand) };
    case 'binary':
    case 'is-distinct':
      return { ...expression, left: next(expression.left), right: next(expression.right) };
    case 'in':
      return { ...expression, operand: next(expression.operand), options: expression.options.map(next) };
    case 'between':
      return { ...expression, operand: next(expression.operand), low: next(expression.low), high: next(expression.high) };
    case 'like':
      return { ...expression, operand: next(expression.operand), pattern: next(expression.pattern) };
    case 'case': {
      const operand = nextOptional(expression.operand);
      const branches = expression.branches.map(({ when, then }) => ({ when: next(when), then: next(then) }));
      const otherwise = nextOptional(expression.otherwise);
      const { zone } = expression;
      return { kind: 'case', ...(operand && { operand }), branches, ...(otherwise && { otherwise }), ...(zone !== undefined && { zone }) };
    }
    case 'call': {
      const given = expression.arguments.map(next);
      const filter = nextOptional(expression.filter);
      const over = expression.over && rebuildWindow(expression.over, next);
      return { ...expression, arguments: given, ...(filter && { filter }), ...(over && { over }) };
    }
    case 'element':
      return { ...expression, operand: next(expression.operand), index: next(expression.index) };
    case 'lambda':
      return { ...expression, body: next(expression.body) };
    default:
      return assertNever(expression);
  }
}

function rebuildWindow(window: Window, next: (present: Expression) => Expression): Window {
  const partitionBy = window.partitionBy.map(next);
  return { ...window, partitionBy, orderBy: window.orderBy.map((key) => ({ ...key, expression: next(key.expression) })) };
}
