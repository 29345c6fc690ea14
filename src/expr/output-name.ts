import type { Expression, Literal } from './expression.ts';
import { mapChildren, mapExpression } from './expression-tree.ts';
import { findFunction } from './functions.ts';
import { printDecimal, printExpression } from './print-expression.ts';
import { shownCalls } from './shown-calls.ts';
import { sparkForm } from './spark-form.ts';

/** The name of an output without one, as Spark makes it: a column's own, also under a cast; else the expression, with names and texts bare. */
export function outputName(value: Expression): string {
  if (value.kind === 'alias') return value.name;
  if (value.kind === 'column') return value.path.at(-1) ?? '';
  if (value.kind === 'cast' && isColumnUnderCasts(value)) return outputName(value.operand);
  return printBare(value);
}

function isColumnUnderCasts(value: Expression): boolean {
  return value.kind === 'cast' ? isColumnUnderCasts(value.operand) : value.kind === 'column';
}

// A name that needs no quotes stands for each text while the expression is printed.
function printBare(value: Expression): string {
  const texts: StoodFor[] = [];
  const stand = (text: string, holdsOthers = false): string => `bare_text_${texts.push({ text, holdsOthers }) - 1}_`;
  const marked = mapExpression(withoutLambdas(sparkForm(value)), (node): Expression => {
    switch (node.kind) {
      case 'column':
        return { kind: 'column', path: [stand(node.path.join('.'))] };
      case 'literal': {
        const text = bareLiteral(node.literal);
        return text === undefined ? node : { kind: 'column', path: [stand(text)] };
      }
      case 'call':
        return bareCall(node, stand);
      default: {
        const text = sparkText(node);
        return text === undefined ? node : { kind: 'column', path: [stand(text, true)] };
      }
    }
  });
  return bare(printExpression(marked), texts);
}

/** What Spark prints otherwise than it is written; `undefined` for the rest. */
function sparkText(node: Expression): string | undefined {
  if (node.kind === 'unary' && node.operator === '~') return `~${printExpression(node.operand)}`;
  if (node.kind === 'cast' && ['list', 'map', 'struct'].includes(node.type.kind)) return printExpression(node.operand);
  if (node.kind === 'like') {
    const escape = node.escape === undefined ? '' : ` ESCAPE '${node.escape}'`;
    const text = `${printExpression(node.operand)} LIKE ${printExpression(node.pattern)}${escape}`;
    return node.negated ? `(NOT ${text})` : text;
  }
  return undefined;
}

/** Lambdas as calls of what Spark calls them, their parameters without names. */
function withoutLambdas(value: Expression, parameters: ReadonlySet<string> = new Set()): Expression {
  if (value.kind === 'column' && value.qualifier === undefined && parameters.has(value.path[0]?.toLowerCase() ?? '')) {
    const variable: Expression = { kind: 'column', path: ['namedlambdavariable()'] };
    return value.path.slice(1).reduce<Expression>((operand, name) => ({ kind: 'member', operand, name }), variable);
  }
  if (value.kind !== 'lambda') return mapChildren(value, (child) => withoutLambdas(child, parameters));
  const inner = new Set([...parameters, ...value.parameters.map((name) => name.toLowerCase())]);
  const body = withoutLambdas(value.body, inner);
  const variables = value.parameters.map((): Expression => ({ kind: 'column', path: ['namedlambdavariable()'] }));
  return { kind: 'call', name: 'lambdafunction', arguments: [body, ...variables] };
}

/** A text that a name stands for. */
interface StoodFor {
  readonly text: string;
  /** Whether it was printed from what has names of others in it. Texts of the statement never do, whatever they look like. */
  readonly holdsOthers: boolean;
}

/** The texts for what stands for them, which may themselves hold some that are older. */
function bare(text: string, texts: readonly StoodFor[], until = texts.length): string {
  return text.replaceAll(/bare_text_(\d+)_/gu, (mark, index: string) => {
    const at = Number(index);
    const stood = at < until ? texts[at] : undefined;
    if (stood === undefined) return mark;
    return stood.holdsOthers ? bare(stood.text, texts, at) : stood.text;
  });
}

function bareCall(call: Extract<Expression, { kind: 'call' }>, stand: (text: string, holdsOthers?: boolean) => string): Expression {
  // Spark counts a one for each row, and names the column so.
  const given: readonly Expression[] = call.star === true ? [{ kind: 'column', path: [stand('1')] }] : call.arguments;
  const named = call.name.toLowerCase();
  const show = Object.hasOwn(shownCalls, named) ? shownCalls[named] : findFunction(named)?.shown;
  const shown = show?.(given.map(printExpression));
  if (shown !== undefined && call.over === undefined && call.filter === undefined && call.distinct !== true)
    return { kind: 'column', path: [stand(shown, true)] };
  const name = shown === undefined ? call.name.toLowerCase() : shown.slice(0, shown.indexOf('('));
  return { ...call, name: stand(name, shown !== undefined), star: false, ignoreNulls: false, arguments: given };
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

/** As Java prints a decimal number: with an exponent when it begins with more than six zeros. */
function javaDecimal(unscaled: bigint, scale: number): string {
  const digits = String(unscaled < 0n ? -unscaled : unscaled);
  const exponent = digits.length - 1 - scale;
  if (exponent >= -6) return printDecimal(unscaled, scale);
  const fraction = digits.length > 1 ? `.${digits.slice(1)}` : '';
  return `${unscaled < 0n ? '-' : ''}${digits.charAt(0)}${fraction}E${exponent}`;
}

/** Texts and numbers without quotes and suffixes; others print as they are written. */
function bareLiteral(literal: Literal): string | undefined {
  switch (literal.type) {
    case 'string':
      return literal.value;
    case 'integer':
      return String(literal.value);
    case 'decimal':
      return javaDecimal(literal.unscaled, literal.scale);
    case 'double':
    case 'float':
      return javaNumber(literal.value);
    case 'interval':
      return intervalText(literal);
    default:
      return undefined;
  }
}

/** An interval of one unit, as it was written; of several `undefined`. */
function intervalText({ months, days, micros }: Extract<Literal, { type: 'interval' }>): string | undefined {
  if (days === 0 && micros === 0n) return months % 12 === 0 ? `INTERVAL '${months / 12}' YEAR` : `INTERVAL '${months}' MONTH`;
  if (months !== 0 || (days !== 0 && micros !== 0n)) return undefined;
  if (micros === 0n) return `INTERVAL '${days}' DAY`;
  const unit = (
    [
      ['HOUR', 3_600_000_000n],
      ['MINUTE', 60_000_000n],
      ['SECOND', 1_000_000n],
    ] as const
  ).find(([, size]) => micros % size === 0n);
  return unit === undefined ? undefined : `INTERVAL '${String(micros / unit[1]).padStart(2, '0')}' ${unit[0]}`;
}
