import type { Expression, Literal } from '../../expr/expression.ts';
import { mapExpression } from '../../expr/expression-tree.ts';
import { printDecimal, printExpression } from '../../expr/print-expression.ts';
import { subqueryOf } from './select-tree.ts';

/** The name of an output without one, as Spark makes it: a column's own, also under a cast; else the expression, with names and texts bare. */
export function outputName(value: Expression): string {
  if (value.kind === 'column' && subqueryOf(value.path[0] ?? '') === undefined) return value.path.at(-1) ?? '';
  if (value.kind === 'member') return value.name;
  if (value.kind === 'cast' && isColumnUnderCasts(value)) return outputName(value.operand);
  return printBare(value);
}

function isColumnUnderCasts(value: Expression): boolean {
  return value.kind === 'cast'
    ? isColumnUnderCasts(value.operand)
    : value.kind === 'column' && subqueryOf(value.path[0] ?? '') === undefined;
}

// A name that needs no quotes stands for each text while the expression is printed.
function printBare(value: Expression): string {
  const texts: string[] = [];
  const stand = (text: string): string => `bare_text_${texts.push(text) - 1}_`;
  const marked = mapExpression(value, (node): Expression => {
    switch (node.kind) {
      case 'column':
        return { kind: 'column', path: [stand(bareColumn(node.path))] };
      case 'literal': {
        const text = bareLiteral(node.literal);
        return text === undefined ? node : { kind: 'column', path: [stand(text)] };
      }
      case 'call':
        // Spark counts a one for each row, and names the column so.
        return {
          ...node,
          name: stand(node.name.toLowerCase()),
          ...(node.star === true ? { star: false, arguments: [{ kind: 'column', path: [stand('1')] }] } : {}),
        };
      default:
        return node;
    }
  });
  return printExpression(marked).replaceAll(/bare_text_(\d+)_/gu, (_, index: string) => texts[Number(index)] ?? '');
}

function bareColumn(path: readonly string[]): string {
  const form = subqueryOf(path[0] ?? '')?.form;
  if (form === undefined) return path.join('.');
  return form === 'scalar' ? 'scalarsubquery()' : form === 'exists' ? 'exists()' : 'listquery()';
}

/** Texts and numbers without quotes and suffixes; others print as they are written. */
function bareLiteral(literal: Literal): string | undefined {
  switch (literal.type) {
    case 'string':
      return literal.value;
    case 'integer':
      return String(literal.value);
    case 'decimal':
      return printDecimal(literal.unscaled, literal.scale);
    case 'double':
    case 'float':
      return Number.isInteger(literal.value) && Math.abs(literal.value) < 1e7 ? literal.value.toFixed(1) : undefined;
    default:
      return undefined;
  }
}
