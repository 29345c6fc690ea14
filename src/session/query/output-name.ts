import type { Expression, Literal } from '../../expr/expression.ts';
import { mapChildren, mapExpression } from '../../expr/expression-tree.ts';
import { findFunction } from '../../expr/functions.ts';
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
  const marked = mapExpression(withoutLambdas(value, stand), (node): Expression => {
    switch (node.kind) {
      case 'column':
        return { kind: 'column', path: [stand(bareColumn(node.path))] };
      case 'literal': {
        const text = bareLiteral(node.literal);
        return text === undefined ? node : { kind: 'column', path: [stand(text)] };
      }
      case 'call':
        // Spark counts a one for each row, and names the column so.
        return bareCall(node, stand);
      default:
        return node;
    }
  });
  return bare(printExpression(marked), texts);
}

/** Lambdas as calls of what Spark calls them, their parameters without names. */
function withoutLambdas(value: Expression, stand: (text: string) => string, parameters: ReadonlySet<string> = new Set()): Expression {
  if (value.kind === 'column' && value.qualifier === undefined && parameters.has(value.path[0]?.toLowerCase() ?? '')) {
    const variable: Expression = { kind: 'column', path: ['namedlambdavariable()'] };
    return value.path.slice(1).reduce<Expression>((operand, name) => ({ kind: 'member', operand, name }), variable);
  }
  if (value.kind !== 'lambda') return mapChildren(value, (child) => withoutLambdas(child, stand, parameters));
  const inner = new Set([...parameters, ...value.parameters.map((name) => name.toLowerCase())]);
  const body = withoutLambdas(value.body, stand, inner);
  const variables = value.parameters.map((): Expression => ({ kind: 'column', path: ['namedlambdavariable()'] }));
  return { kind: 'call', name: 'lambdafunction', arguments: [body, ...variables] };
}

/** The texts for what stands for them, which may themselves hold some that are older. */
function bare(text: string, texts: readonly string[]): string {
  return text.replaceAll(/bare_text_(\d+)_/gu, (_, index: string) => bare(texts[Number(index)] ?? '', texts.slice(0, Number(index))));
}

function bareCall(call: Extract<Expression, { kind: 'call' }>, stand: (text: string) => string): Expression {
  // Spark counts a one for each row, and names the column so.
  const given: readonly Expression[] = call.star === true ? [{ kind: 'column', path: [stand('1')] }] : call.arguments;
  const shown = findFunction(call.name)?.shown?.(given.map(printExpression));
  if (shown !== undefined && call.over === undefined && call.filter === undefined && call.distinct !== true)
    return { kind: 'column', path: [stand(shown)] };
  const name = shown === undefined ? call.name.toLowerCase() : shown.slice(0, shown.indexOf('('));
  return { ...call, name: stand(name), star: false, arguments: given };
}

function bareColumn(path: readonly string[]): string {
  const form = subqueryOf(path[0] ?? '')?.form;
  if (form === undefined) return path.join('.');
  return form === 'scalar' ? 'scalarsubquery()' : form === 'exists' ? 'exists()' : 'listquery()';
}

/** As Java prints a floating point number. */
function javaNumber(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity';
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  const [mantissa = '', exponent = '0'] = value.toExponential().split('e');
  const magnitude = Math.abs(value);
  if (magnitude < 1e-3 || magnitude >= 1e7) return `${mantissa.includes('.') ? mantissa : `${mantissa}.0`}E${Number(exponent)}`;
  return Number.isInteger(value) ? value.toFixed(1) : String(value);
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
      return javaNumber(literal.value);
    default:
      return undefined;
  }
}
