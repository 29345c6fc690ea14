import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { AnalysisException, type DataFrame, type Session } from '../../../src/index.ts';
import { type Oracle, type ScriptAnswer, sortedLines } from '../oracle.ts';
import { canonicalRow } from '../support/canonical-rows.ts';
import { isQuery, type Outcome, type RestatedCase, type RestatedSuite, stepsOf } from './restated-case.ts';

/** What Spark gave, by the case's title. */
export type Recording = Readonly<Record<string, readonly Outcome[]>>;

const messageChars = 160;

export function recordingOf(suite: RestatedSuite): Recording {
  const file = fileOf(suite);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Recording) : {};
}

export function record(suite: RestatedSuite, recording: Recording): void {
  const file = fileOf(suite);
  mkdirSync(new URL('.', file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(recording, null, 2)}\n`);
}

/** What our session makes of a case. An error that is none for users fails the case. */
export async function ourOutcomes(session: Session, suite: RestatedSuite, restated: RestatedCase, directory: string): Promise<Outcome[]> {
  const conf = Object.entries(restated.conf ?? {});
  for (const [key, value] of conf) session.conf.set(key, value);
  try {
    const outcomes: Outcome[] = [];
    for (const statement of stepsOf(suite, restated, directory)) outcomes.push(await ourOutcome(session, statement));
    return outcomes;
  } finally {
    for (const [key] of conf) session.conf.unset(key);
  }
}

async function ourOutcome(session: Session, statement: string): Promise<Outcome> {
  if (isQuery(statement)) return frameOutcome(() => session.sql(statement));
  return refusedOr(async () => {
    await session.sql(statement);
    return 'done';
  });
}

/** Columns and rows of a DataFrame. An error that is none for users passes through. */
export function frameOutcome(make: () => Promise<DataFrame>): Promise<Outcome> {
  return refusedOr(async () => {
    const frame = await make();
    const columns = (await frame.dtypes).map(([name, type]) => `${name} ${type}`);
    return { columns, rows: sortedLines((await frame.collect()).map(canonicalRow)) };
  });
}

async function refusedOr(work: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AnalysisException) return { refused: error.errorClass };
    throw error;
  }
}

/** What Spark makes of a case. */
export async function sparkOutcomes(oracle: Oracle, suite: RestatedSuite, restated: RestatedCase, directory: string): Promise<Outcome[]> {
  const statements = stepsOf(suite, restated, directory);
  const answers = await oracle.script({ statements, queries: statements.filter(isQuery), conf: restated.conf });
  return answers.map(outcomeOf);
}

function outcomeOf({ columns, rows, error }: ScriptAnswer): Outcome {
  if (error !== undefined) return { refused: error.condition ?? 'refused', message: firstLine(error.message) };
  return columns === undefined ? 'done' : { columns, rows: sortedLines(rows ?? []) };
}

/** Paths and positions in it are of one run. */
function firstLine(message: string = ''): string {
  return (message.split('\n')[0] ?? '').replaceAll(/\S*\/\S*/g, '…').slice(0, messageChars);
}

/** What ours must give: what Spark gave, or what was decided. */
export function expectedOutcomes({ differs = {} }: RestatedCase, recorded: readonly Outcome[]): readonly Outcome[] {
  return withoutMessages(recorded.map((outcome, place) => differs[place]?.ours ?? outcome));
}

/** Outcomes as they are compared: an error without a class is any refusal. */
export function compared(outcomes: readonly Outcome[], expected: readonly Outcome[]): readonly Outcome[] {
  return outcomes.map((outcome, place) => {
    const wanted = expected[place];
    const anyRefusal = typeof wanted === 'object' && 'refused' in wanted && wanted.refused === 'refused';
    return anyRefusal && typeof outcome === 'object' && 'refused' in outcome ? wanted : outcome;
  });
}

/** Messages hold what is of one run. */
export function withoutMessages(outcomes: readonly Outcome[] = []): readonly Outcome[] {
  return outcomes.map((outcome) => (typeof outcome === 'object' && 'refused' in outcome ? { refused: outcome.refused } : outcome));
}

function fileOf({ name }: RestatedSuite): URL {
  return new URL(`recorded/${name}.json`, import.meta.url);
}
