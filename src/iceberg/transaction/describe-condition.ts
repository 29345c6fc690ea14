import type { Expression } from '../../expr/expression.ts';
import { printExpression } from '../../expr/print-expression.ts';

/** A condition as Iceberg's messages show it: `(ref(name="id") == 1 and is_null(ref(name="s")))`; in SQL where that has no form for it. */
export function describeCondition(condition: Expression | true): string {
  return condition === true ? 'true' : describe(condition);
}

const symbols: Readonly<Record<string, string | undefined>> = { '=': '==', '<>': '!=', '<': '<', '<=': '<=', '>': '>', '>=': '>=' };

function describe(node: Expression): string {
  switch (node.kind) {
    case 'literal':
      if (node.literal.type === 'string') return `"${node.literal.value}"`;
      return node.literal.type === 'integer' ? String(node.literal.value) : printExpression(node);
    case 'column':
      return `ref(name="${node.path.join('.')}")`;
    case 'unary':
      return node.operator === 'not' ? `not(${describe(node.operand)})` : printExpression(node);
    case 'binary': {
      const { operator, left, right } = node;
      const symbol = operator === 'and' || operator === 'or' ? operator : symbols[operator];
      if (symbol === undefined) return printExpression(node);
      const text = `${describe(left)} ${symbol} ${describe(right)}`;
      return symbol === operator && (operator === 'and' || operator === 'or') ? `(${text})` : text;
    }
    case 'is':
      if (node.test !== 'null') return printExpression(node);
      return `${node.negated ? 'not_null' : 'is_null'}(${describe(node.operand)})`;
    case 'in':
      return `${describe(node.operand)} ${node.negated ? 'not in' : 'in'} (${node.options.map(describe).join(', ')})`;
    default:
      return printExpression(node);
  }
}
