import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { isServiceError } from '../../../../src/base/errors.ts';
import type { Session } from '../../../../src/index.ts';
import type { Oracle } from '../../oracle.ts';
import { frameOutcome, ourOutcomes, sparkOutcomes } from '../outcomes.ts';
import type { Outcome, RestatedCase, RestatedSuite } from '../restated-case.ts';
import { type ExpressionRecording, type ExpressionSuite, lineOf, withPlainYears } from './expression-suite.ts';

/** Outcomes by expression, each in one line. */
export type ExpressionLines = Readonly<Record<string, string>>;

/** What ours gives instead of what was recorded, by the reason and the expression. `docs/reference/sql-dialect.md` tells them. */
export type DeclaredDifferences = Readonly<Record<string, ExpressionLines>>;

export function recordedExpressions(suite: ExpressionSuite): ExpressionRecording {
  return (read(suite, 'recorded') ?? {}) as ExpressionRecording;
}

export function recordExpressions(suite: ExpressionSuite, recording: ExpressionRecording): void {
  write(suite, 'recorded', recording);
}

export function declaredDifferences(suite: ExpressionSuite): DeclaredDifferences {
  return (read(suite, 'differs') ?? {}) as DeclaredDifferences;
}

type Conf = ExpressionSuite['conf'];
type Asked = Pick<ExpressionSuite, 'conf' | 'unnamed'>;

export async function ourLines(session: Session, expressions: readonly string[], conf?: Conf): Promise<ExpressionLines> {
  const lines: [string, string][] = [];
  for (const expression of expressions) lines.push([expression, await ourLine(session, expression, conf)]);
  return Object.fromEntries(lines);
}

const together = 60;

/**
 * The same of expressions whose columns' names do not matter: those that should be answered many in a statement, those that should be
 * refused each by itself.
 */
export async function unnamedLines(session: Session, wanted: ExpressionLines): Promise<ExpressionLines> {
  const isRefused = (expression: string): boolean => wanted[expression]?.startsWith('!') === true;
  const answered = Object.keys(wanted).filter((expression) => !isRefused(expression));
  const lines: [string, string][] = [];
  for (let at = 0; at < answered.length; at += together) lines.push(...(await linesTogether(session, answered.slice(at, at + together))));
  for (const expression of Object.keys(wanted).filter(isRefused)) lines.push([expression, await unnamedLine(session, expression)]);
  return Object.fromEntries(lines);
}

async function linesTogether(session: Session, expressions: readonly string[]): Promise<readonly [string, string][]> {
  const statement = `SELECT ${expressions.map((expression, place) => `${expression} AS c${place}`).join(', ')}`;
  const outcome = await frameOutcome(() => session.sql(statement)).catch(() => 'done' as const);
  if (typeof outcome === 'string' || 'refused' in outcome) {
    const alone: [string, string][] = [];
    for (const expression of expressions) alone.push([expression, await unnamedLine(session, expression)]);
    return alone;
  }
  const row = JSON.parse(outcome.rows[0] ?? '{}') as Readonly<Record<string, unknown>>;
  return expressions.map((expression, place) => {
    const type = outcome.columns[place]?.slice(`c${place} `.length) ?? '';
    return [expression, withPlainYears(`${type} ${JSON.stringify(row[`c${place}`])}`)];
  });
}

function unnamedLine(session: Session, expression: string): Promise<string> {
  return lineFrom(
    'v',
    async () => (await ourOutcomes(session, suiteOf([`${expression} AS v`], undefined), caseOf([`${expression} AS v`], undefined), ''))[0],
  );
}

function ourLine(session: Session, expression: string, conf: Conf): Promise<string> {
  return lineFrom(expression, async () => (await ourOutcomes(session, suiteOf([expression], conf), caseOf([expression], conf), ''))[0]);
}

/** The same through calls of a DataFrame, by expression; without those whose statement has more clauses than FROM. */
export async function frameLines(session: Session, expressions: readonly string[], conf: Conf = {}): Promise<ExpressionLines> {
  for (const [key, value] of Object.entries(conf)) session.conf.set(key, value);
  const lines: [string, string][] = [];
  for (const expression of expressions) {
    const { values, from } = /^(?<values>[^]*?) FROM (?<from>VALUES [^]*)$/.exec(expression)?.groups ?? {};
    if (from === undefined ? / FROM \w+\b.*(?:SELECT| t\b)/.test(expression) : /GROUP BY|HAVING|LATERAL|ORDER BY/.test(from)) continue;
    // Windows are over a column of their own, which stands before them.
    const items = values?.startsWith('id, ') === true ? ['id', values.slice(4)] : [values ?? expression];
    const line = await lineFrom(expression, () =>
      frameOutcome(async () => (from === undefined ? session.range(1) : await session.sql(`SELECT * FROM ${from}`)).selectExpr(...items)),
    );
    lines.push([expression, line]);
  }
  for (const key of Object.keys(conf)) session.conf.unset(key);
  return Object.fromEntries(lines);
}

/** An error that has a code only is told with it. */
async function lineFrom(expression: string, ask: () => Promise<Outcome | undefined>): Promise<string> {
  try {
    return lineOf(expression, (await ask()) ?? 'done');
  } catch (error) {
    if (isServiceError(error)) return `!!${error.code}`;
    throw error;
  }
}

export async function sparkLines(oracle: Oracle, expressions: readonly string[], { conf, unnamed }: Asked = {}): Promise<ExpressionLines> {
  const asked = unnamed === undefined ? expressions : expressions.map((expression) => `${expression} AS v`);
  const outcomes = await sparkOutcomes(oracle, suiteOf(asked, conf), caseOf(asked, conf), '');
  return Object.fromEntries(
    expressions.map((expression, index) => [expression, lineOf(unnamed === undefined ? expression : 'v', outcomes[index] ?? 'done')]),
  );
}

/** What ours must give: what was recorded, or what was declared. */
export function expectedLines(recorded: ExpressionLines, declared: DeclaredDifferences): ExpressionLines {
  const ours: ExpressionLines = Object.fromEntries(Object.values(declared).flatMap(Object.entries<string>));
  return Object.fromEntries(Object.entries(recorded).map(([expression, line]) => [expression, ours[expression] ?? line]));
}

/**
 * What Java's StrictMath and the C library that the engine calls may give otherwise in the last two digits of the binary fraction: neither
 * promises the nearest double. To compute them as Java does, row by row beside the engine, costs every query more than the digit is worth.
 */
const roundedOtherwise =
  /\b(?:acosh?|asinh?|atanh?|atan2|cbrt|cosh?|cot|csc|exp|expm1|hypot|ln|log|log10|log1p|log2|pow|power|sec|sinh?|tanh?)\(/i;

const units = 2n;

/** Ours, with the lines of what was wanted where the two differ in nothing but such digits. */
export function withWantedDigits(ours: ExpressionLines, wanted: ExpressionLines): ExpressionLines {
  const digits = (expression: string, line: string): string => {
    const other = wanted[expression] ?? '';
    return roundedOtherwise.test(expression) && isNear(line, other) ? other : line;
  };
  return Object.fromEntries(Object.entries(ours).map(([expression, line]) => [expression, digits(expression, line)]));
}

/** What is declared though there is no difference. */
export function needlessDifferences(recorded: ExpressionLines, declared: DeclaredDifferences): readonly string[] {
  return Object.values(declared).flatMap((ours) =>
    Object.entries(withWantedDigits(ours, recorded)).flatMap(([expression, line]) => (recorded[expression] === line ? [expression] : [])),
  );
}

function isNear(line: string, other: string): boolean {
  const [[type, value, rest], [otherType, otherValue, otherRest]] = [partsOf(line), partsOf(other)];
  if (type !== 'double' || otherType !== type || rest !== otherRest) return false;
  const distance = placeOf(Number(value)) - placeOf(Number(otherValue));
  return distance <= units && distance >= -units;
}

/** Type, value, and the column's name. */
function partsOf(line: string): readonly string[] {
  return /^(\w+) (-?\d[\d.e+-]*)( AS .*)?$/s.exec(line)?.slice(1) ?? [];
}

/** The place of a double among all that there are. */
function placeOf(value: number): bigint {
  return BigInt.asIntN(64, new BigInt64Array(new Float64Array([value]).buffer)[0] ?? 0n);
}

function caseOf(expressions: readonly string[], conf: Conf): RestatedCase {
  return { of: 'functions of Spark', title: 'expressions', steps: expressions.map((expression) => `SELECT ${expression}`), conf };
}

function suiteOf(expressions: readonly string[], conf: Conf): RestatedSuite {
  return { name: 'expressions', format: 'delta', cases: [caseOf(expressions, conf)] };
}

function read(suite: ExpressionSuite, kind: 'recorded' | 'differs'): unknown {
  const file = fileOf(suite, kind);
  if (!existsSync(file)) return undefined;
  const bytes = readFileSync(file);
  return JSON.parse((isPacked(file) ? gunzipSync(bytes) : bytes).toString('utf8'));
}

function write(suite: ExpressionSuite, kind: 'recorded', value: unknown): void {
  const file = fileOf(suite, kind);
  mkdirSync(new URL('.', file), { recursive: true });
  const text = `${JSON.stringify(value, null, 1)}\n`;
  writeFileSync(file, isPacked(file) ? gzipSync(text, { level: 9 }) : text);
}

/** Recordings of many thousand cases are packed, a case on a line: `zcat` shows them, and `git diff` does where it is told to unpack them. */
function fileOf({ name, unnamed }: ExpressionSuite, kind: 'recorded' | 'differs'): URL {
  return new URL(`${kind}/${name}.json${kind === 'recorded' && unnamed ? '.gz' : ''}`, import.meta.url);
}

function isPacked(file: URL): boolean {
  return file.pathname.endsWith('.gz');
}
