import type { Expression } from '../expression.ts';
import { childrenOf } from '../expression-tree.ts';
import type { ZoneRule } from '../time-zone.ts';
import type { ColumnFacts, FileFacts } from './file-facts.ts';
import { foldBeside, foldLiteral } from './fold-literal.ts';
import { type Comparison, compareOrdered, comparisonWith, type Ordered } from './ordered-values.ts';
import { alwaysNull, andOutcome, anyOutcome, constantOutcome, notOutcome, type Outcome, orOutcome } from './outcome.ts';
import { booleanColumn, columnIn, columnIsNull, columnStartsWith, compareColumn, type Relation } from './value-range.ts';

export type { FileFacts } from './file-facts.ts';

/** Whether a file may hold a row of the condition. False is certain; what is not understood counts as may. */
export type FilePruner = (facts: FileFacts) => boolean;

/** With more floating columns than these in one condition their facts are not used. */
const maxNaNColumns = 4;

/** See `filePruner`; for one file. */
export function mayMatch(condition: Expression, facts: FileFacts): boolean {
  return filePruner(condition)(facts);
}

/**
 * Prepares a condition, bound to one relation, for many files. Conservative in three-valued logic: comparisons, IN, BETWEEN, IS NULL,
 * LIKE 'prefix%', AND, OR and NOT over columns and literals are understood, everything else may be true, false or null.
 */
export function filePruner(condition: Expression): FilePruner {
  const test = compile(condition);
  const floating = floatingColumns(condition);
  return (facts) => {
    if (facts.rowCount === 0) return false;
    if (floating.length > maxNaNColumns) return test(floating.reduce((world, key) => withColumn(world, key, undefined), facts)).mayBeTrue;
    return worldsOf(facts, floating).some((world) => test(world).mayBeTrue);
  };
}

type Test = (facts: FileFacts) => Outcome;
type ColumnNode = Extract<Expression, { kind: 'column' }>;

function compile(node: Expression): Test {
  switch (node.kind) {
    case 'literal': {
      const { literal } = node;
      const outcome = literal.type === 'boolean' ? constantOutcome(literal.value) : literal.type === 'null' ? alwaysNull : anyOutcome;
      return () => outcome;
    }
    case 'column':
      return node.type?.kind === 'boolean' ? (facts) => booleanColumn(facts.column(node.path), facts) : () => anyOutcome;
    case 'unary': {
      if (node.operator !== 'not') return () => anyOutcome;
      const operand = compile(node.operand);
      return (facts) => notOutcome(operand(facts));
    }
    case 'binary':
      return compileBinary(node);
    case 'is':
      return compileIs(node);
    case 'is-distinct': {
      const same = compileNullSafe(node.left, node.right, node.zone);
      return node.negated ? same : (facts) => notOutcome(same(facts));
    }
    case 'in':
      return negatedIf(node.negated, compileIn(node.operand, node.options, node.zone));
    case 'between': {
      const low = compileComparison('>=', [node.operand, node.low], node.zone);
      const high = compileComparison('<=', [node.operand, node.high], node.zone);
      return negatedIf(node.negated, (facts) => andOutcome(low(facts), high(facts)));
    }
    case 'like':
      return node.form === 'like' ? negatedIf(node.negated, compilePrefix(node.operand, likePrefix(node))) : () => anyOutcome;
    case 'call':
      return ['startswith', 'starts_with'].includes(node.name.toLowerCase()) ? compileStartsWith(node) : () => anyOutcome;
    default:
      return () => anyOutcome;
  }
}

function compileBinary({ operator, left, right, zone }: Extract<Expression, { kind: 'binary' }>): Test {
  switch (operator) {
    case 'and': {
      const [one, other] = [compile(left), compile(right)];
      return (facts) => andOutcome(one(facts), other(facts));
    }
    case 'or': {
      const [one, other] = [compile(left), compile(right)];
      return (facts) => orOutcome(one(facts), other(facts));
    }
    case '=':
    case '<':
    case '<=':
    case '>':
    case '>=':
      return compileComparison(operator, [left, right], zone);
    case '<>': {
      const equal = compileComparison('=', [left, right], zone);
      return (facts) => notOutcome(equal(facts));
    }
    case '<=>':
      return compileNullSafe(left, right, zone);
    default:
      return () => anyOutcome;
  }
}

const mirrored = { '=': '=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' } as const;

function compileComparison(relation: Relation, [left, right]: readonly [Expression, Expression], zone: ZoneRule): Test {
  if (left.kind !== 'column') {
    return right.kind === 'column' ? compileComparison(mirrored[relation], [right, left], zone) : () => anyOutcome;
  }
  const literal = foldBeside(left.type, right, zone);
  if (literal?.type === 'null') return () => alwaysNull;
  const comparison = literal === undefined || left.type === undefined ? undefined : comparisonWith(left.type, literal);
  if (comparison === undefined) return () => anyOutcome;
  return (facts) => compareColumn(facts.column(left.path), facts, relation, comparison);
}

/** Never null: a missing value equals another. */
function compileNullSafe(left: Expression, right: Expression, zone: ZoneRule): Test {
  const column = left.kind === 'column' ? left : right.kind === 'column' ? right : undefined;
  const literal = foldLiteral(column === left ? right : left);
  if (column === undefined || literal === undefined) return () => ({ ...anyOutcome, mayBeNull: false });
  if (literal.type === 'null') return (facts) => columnIsNull(facts.column(column.path), facts);
  const equal = compileComparison('=', [left, right], zone);
  return (facts) => {
    const outcome = equal(facts);
    return { mayBeTrue: outcome.mayBeTrue, mayBeFalse: outcome.mayBeFalse || outcome.mayBeNull, mayBeNull: false };
  };
}

function compileIs({ operand, test, negated }: Extract<Expression, { kind: 'is' }>): Test {
  if (test === 'null' && operand.kind === 'column') return negatedIf(negated, (facts) => columnIsNull(facts.column(operand.path), facts));
  const inner = compile(operand);
  return negatedIf(negated, (facts) => {
    const outcome = inner(facts);
    const parts = { null: outcome.mayBeNull, true: outcome.mayBeTrue, false: outcome.mayBeFalse };
    const others = (['null', 'true', 'false'] as const).some((value) => value !== test && parts[value]);
    return { mayBeTrue: parts[test], mayBeFalse: others, mayBeNull: false };
  });
}

function compileIn(operand: Expression, options: readonly Expression[], zone: ZoneRule): Test {
  const column = operand.kind === 'column' ? operand.type : undefined;
  const literals = options.map((option) => foldBeside(column, option, zone));
  const present = literals.flatMap((literal) => (literal === undefined || literal.type === 'null' ? [] : [literal]));
  const [first] = present;
  // One kind of literal gives one common form; a mixed list is tested option by option.
  if (operand.kind === 'column' && operand.type !== undefined && first !== undefined && present.length === options.length) {
    const { type } = operand;
    const comparisons = present.map((literal) => (sameForm(first, literal) ? comparisonWith(type, literal) : undefined));
    const known = comparisons.flatMap((comparison) => (comparison === undefined ? [] : [comparison]));
    if (known.length === options.length) return sortedIn(operand, known);
  }
  const tests = options.map((option) => compileComparison('=', [operand, option], zone));
  return (facts) => tests.reduce<Outcome>((outcome, test) => orOutcome(outcome, test(facts)), constantOutcome(false));
}

function sortedIn(column: ColumnNode, comparisons: readonly Comparison[]): Test {
  const values: readonly Ordered[] = comparisons.map(({ value }) => value).toSorted(compareOrdered);
  const [comparison] = comparisons;
  if (comparison === undefined) return () => anyOutcome;
  return (facts) => columnIn(facts.column(column.path), facts, values, comparison);
}

type FoldedLiteral = NonNullable<ReturnType<typeof foldLiteral>>;

function sameForm(one: FoldedLiteral, other: FoldedLiteral): boolean {
  return one.type === other.type && (one.type !== 'decimal' || (other.type === 'decimal' && one.scale === other.scale));
}

function compilePrefix(operand: Expression, prefix: string | undefined): Test {
  if (operand.kind !== 'column' || operand.type?.kind !== 'string' || prefix === undefined) return () => anyOutcome;
  return (facts) => columnStartsWith(facts.column(operand.path), facts, prefix);
}

function compileStartsWith({ arguments: [text, start] }: Extract<Expression, { kind: 'call' }>): Test {
  const prefix = start === undefined ? undefined : foldLiteral(start);
  return text === undefined || prefix?.type !== 'string' ? () => anyOutcome : compilePrefix(text, prefix.value);
}

function negatedIf(negated: boolean, test: Test): Test {
  return negated ? (facts) => notOutcome(test(facts)) : test;
}

function floatingColumns(node: Expression): readonly string[] {
  const own = node.kind === 'column' && (node.type?.kind === 'float' || node.type?.kind === 'double') ? [keyOf(node.path)] : [];
  return [...new Set([...own, ...childrenOf(node).flatMap(floatingColumns)])];
}

/**
 * A row's value of a floating column lies within the bounds or is NaN, which many writers leave out of them: the condition is tried with
 * each such column either way. Otherwise `x > 5` could be pruned by the bounds of a file with a NaN, which is greater than 5.
 */
function worldsOf(facts: FileFacts, floating: readonly string[]): readonly FileFacts[] {
  return floating.reduce<readonly FileFacts[]>(
    (worlds, key) => (mayHoldNaN(facts, key) ? worlds.flatMap((world) => [world, withColumn(world, key, onlyNaN)]) : worlds),
    [facts],
  );
}

const onlyNaN: ColumnFacts = { min: Number.NaN, max: Number.NaN, nullCount: 0 };

function mayHoldNaN(facts: FileFacts, key: string): boolean {
  const column = facts.column(key.split('\0'));
  const noValue = column?.allNull === true || (facts.rowCount !== undefined && column?.nullCount === facts.rowCount);
  return column !== undefined && !noValue && column.mayHoldNaN !== false;
}

function withColumn(facts: FileFacts, key: string, column: ColumnFacts | undefined): FileFacts {
  return { rowCount: facts.rowCount, column: (path) => (keyOf(path) === key ? column : facts.column(path)) };
}

function keyOf(path: readonly string[]): string {
  return path.join('\0');
}

/** The text every match of a LIKE pattern begins with; `undefined` when it is not known or empty. */
function likePrefix({ pattern, escape = '\\' }: Extract<Expression, { kind: 'like' }>): string | undefined {
  if (pattern.kind !== 'literal' || pattern.literal.type !== 'string') return undefined;
  const text = pattern.literal.value;
  let prefix = '';
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? '';
    if (text.startsWith(escape, at)) {
      at += escape.length;
      prefix += text[at] ?? '';
    } else if (character === '%' || character === '_') break;
    else prefix += character;
  }
  return prefix === '' ? undefined : prefix;
}
