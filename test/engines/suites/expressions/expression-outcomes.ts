import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isServiceError } from '../../../../src/base/errors.ts';
import type { Session } from '../../../../src/index.ts';
import type { Oracle } from '../../oracle.ts';
import { ourOutcomes, sparkOutcomes } from '../outcomes.ts';
import type { RestatedCase, RestatedSuite } from '../restated-case.ts';
import { type ExpressionRecording, type ExpressionSuite, lineOf } from './expression-suite.ts';

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

export async function ourLines(session: Session, expressions: readonly string[]): Promise<ExpressionLines> {
  const lines: [string, string][] = [];
  for (const expression of expressions) lines.push([expression, await ourLine(session, expression)]);
  return Object.fromEntries(lines);
}

/** An error that has a code only is told with it. */
async function ourLine(session: Session, expression: string): Promise<string> {
  try {
    const [outcome = 'done'] = await ourOutcomes(session, suiteOf([expression]), caseOf([expression]), '');
    return lineOf(expression, outcome);
  } catch (error) {
    if (isServiceError(error)) return `!!${error.code}`;
    throw error;
  }
}

export async function sparkLines(oracle: Oracle, expressions: readonly string[]): Promise<ExpressionLines> {
  const outcomes = await sparkOutcomes(oracle, suiteOf(expressions), caseOf(expressions), '');
  return linesOf(expressions, outcomes);
}

/** What ours must give: what was recorded, or what was declared. */
export function expectedLines(recorded: ExpressionLines, declared: DeclaredDifferences): ExpressionLines {
  const ours: ExpressionLines = Object.fromEntries(Object.values(declared).flatMap(Object.entries<string>));
  return Object.fromEntries(Object.entries(recorded).map(([expression, line]) => [expression, ours[expression] ?? line]));
}

function linesOf(expressions: readonly string[], outcomes: Awaited<ReturnType<typeof ourOutcomes>>): ExpressionLines {
  return Object.fromEntries(expressions.map((expression, index) => [expression, lineOf(expression, outcomes[index] ?? 'done')]));
}

function caseOf(expressions: readonly string[]): RestatedCase {
  return { of: 'functions of Spark', title: 'expressions', steps: expressions.map((expression) => `SELECT ${expression}`) };
}

function suiteOf(expressions: readonly string[]): RestatedSuite {
  return { name: 'expressions', format: 'delta', cases: [caseOf(expressions)] };
}

function read(suite: ExpressionSuite, kind: string): unknown {
  const file = fileOf(suite, kind);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

function write(suite: ExpressionSuite, kind: string, value: unknown): void {
  const file = fileOf(suite, kind);
  mkdirSync(new URL('.', file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(value, null, 1)}\n`);
}

function fileOf({ name }: ExpressionSuite, kind: string): URL {
  return new URL(`${kind}/${name}.json`, import.meta.url);
}
