import { type BinaryOperator, type Expression, nullExpression, type Window, type WindowFrame } from './expression.ts';
import { mapExpression } from './expression-tree.ts';
import { expressionType } from './expression-type.ts';

type Binary = Extract<Expression, { kind: 'binary' }>;

/** An expression as Spark's parser makes it of the same text: what its names of columns are printed of. */
export function sparkForm(value: Expression): Expression {
  return mapExpression(value, (node): Expression => {
    switch (node.kind) {
      case 'binary':
        return binaryForm(node);
      case 'is':
        return node.test === 'null' ? node : negatedIf(node.negated, binary('<=>', node.operand, booleanLiteral(node.test === 'true')));
      case 'between':
        return negatedIf(node.negated, call('between', node.operand, node.low, node.high));
      case 'like':
        return node.form === 'like' || node.escape !== undefined
          ? node
          : negatedIf(node.negated, call(node.form, node.operand, node.pattern));
      case 'case':
        return caseForm(node);
      case 'call':
        return callForm(node);
      default:
        return node;
    }
  });
}

function binaryForm(node: Binary): Expression {
  const { operator, left, right } = node;
  if (operator === '<>') return negated(binary('=', left, right));
  if (operator === '||') return call('concat', left, right);
  if (operator !== '+' && operator !== '-') return node;
  if (isDate(left) && isWhole(right)) return call(operator === '+' ? 'date_add' : 'date_sub', left, right);
  if (operator === '+' && isWhole(left) && isDate(right)) return call('date_add', right, left);
  // What is moved stands before what it is moved by.
  if (operator === '+' && isInterval(left) && !isInterval(right)) return moved('+', right, left);
  return isInterval(right) && !isInterval(left) ? moved(operator, left, right) : node;
}

function caseForm(node: Extract<Expression, { kind: 'case' }>): Expression {
  const { operand, branches, otherwise } = node;
  if (operand === undefined) return node;
  const compared = branches.map(({ when, then }) => ({ when: binary('=', operand, when), then }));
  return { kind: 'case', branches: compared, ...(otherwise === undefined ? {} : { otherwise }) };
}

function callForm(node: Extract<Expression, { kind: 'call' }>): Expression {
  const [value] = node.arguments;
  switch (node.name.toLowerCase()) {
    case 'isnull':
    case 'isnotnull':
      return value === undefined ? node : { kind: 'is', operand: value, test: 'null', negated: node.name.length > 6 };
    case 'aggregate':
    case 'reduce': {
      const same: Expression = { kind: 'lambda', parameters: ['all'], body: { kind: 'column', path: ['all'] } };
      return node.arguments.length === 3 ? { ...node, arguments: [...node.arguments, same] } : node;
    }
    default:
      return node.over === undefined ? node : windowForm(node, node.over);
  }
}

type Bound = NonNullable<Window['frame']>['from'];

const first: Bound = { kind: 'preceding' };
const current: Bound = { kind: 'current-row' };
const last: Bound = { kind: 'following' };
const ranks: ReadonlySet<string> = new Set(['row_number', 'rank', 'dense_rank', 'percent_rank', 'ntile']);

/** A window with the order of its NULLs and the frame that Spark gives it. */
function windowForm(node: Extract<Expression, { kind: 'call' }>, over: Window): Expression {
  const name = node.name.toLowerCase();
  const orderBy = over.orderBy.map((key) => ({ ...key, nullsFirst: key.nullsFirst ?? !key.descending }));
  if (name === 'lag' || name === 'lead') {
    const [value = nullExpression, offset = integer(1), otherwise = nullExpression] = node.arguments;
    const rows = offset.kind === 'literal' && offset.literal.type === 'integer' ? Number(offset.literal.value) : undefined;
    const away: Bound = { kind: 'following', rows: rows === undefined || name === 'lead' ? rows : -rows };
    return { ...node, arguments: [value, offset, otherwise], over: { ...over, orderBy, frame: { unit: 'rows', from: away, until: away } } };
  }
  return { ...node, over: { ...over, orderBy, frame: over.frame ?? frameOf(name, orderBy.length > 0) } };
}

function frameOf(name: string, ordered: boolean): WindowFrame {
  if (ranks.has(name)) return { unit: 'rows', from: first, until: current };
  return ordered ? { unit: 'range', from: first, until: current } : { unit: 'rows', from: first, until: last };
}

function integer(value: number): Expression {
  return { kind: 'literal', literal: { type: 'integer', value: BigInt(value), width: 'integer' } };
}

function moved(operator: '+' | '-', time: Expression, by: Expression): Expression {
  if (isDate(time) && by.kind === 'literal' && by.literal.type === 'interval' && by.literal.months === 0 && by.literal.micros === 0n)
    return call(operator === '+' ? 'date_add' : 'date_sub', time, call('extractansiintervaldays', by));
  return call(operator, time, by);
}

function isDate(node: Expression): boolean {
  return expressionType(node)?.kind === 'date';
}

function isWhole(node: Expression): boolean {
  return ['byte', 'short', 'integer'].includes(expressionType(node)?.kind ?? '');
}

function isInterval(node: Expression): boolean {
  return node.kind === 'literal' && node.literal.type === 'interval';
}

function binary(operator: BinaryOperator, left: Expression, right: Expression): Expression {
  return { kind: 'binary', operator, left, right };
}

function call(name: string, ...given: readonly Expression[]): Expression {
  return { kind: 'call', name, arguments: given };
}

function negated(operand: Expression): Expression {
  return { kind: 'unary', operator: 'not', operand };
}

function negatedIf(when: boolean, operand: Expression): Expression {
  return when ? negated(operand) : operand;
}

function booleanLiteral(value: boolean): Expression {
  return { kind: 'literal', literal: { type: 'boolean', value } };
}
