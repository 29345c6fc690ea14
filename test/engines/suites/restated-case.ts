import { createHash } from 'node:crypto';

/**
 * A case of another project's test suite, told again as statements. What each gives, rows or the class of its error, is what Spark gave
 * (`recorded/`), and ours must give the same. In the text `{t}`, `{s}` and `{u}` are tables of the case's own, `{v}` a name for a view;
 * for Delta also `{path}`, where `{t}` is.
 */
export interface RestatedCase {
  /** The suite and its test, e.g. `UpdateSuiteBase: nested data support`. */
  readonly of: string;
  /** What holds, as a sentence; one of its kind in its file. */
  readonly title: string;
  /** Executed one by one, those after a refused one too. */
  readonly steps: readonly string[];
  /** Settings of the session while the case runs. */
  readonly conf?: Readonly<Record<string, string>> | undefined;
  /** Where ours gives something else by decision, by the place of the step (from 0); `docs/reference/sql-dialect.md` tells it. */
  readonly differs?: Readonly<Record<number, Difference>> | undefined;
}

export interface Difference {
  readonly ours: Outcome;
  readonly because: string;
}

/** What a step gave: nothing to look at, rows as sorted text in canonical form, or a refusal. */
export type Outcome = 'done' | Result | Refusal;

export interface Result {
  /** `name type` of each column. */
  readonly columns: readonly string[];
  readonly rows: readonly string[];
}

export interface Refusal {
  /** Its class, or `refused` of an error that has none (many of Iceberg's). */
  readonly refused: string;
  /** How Spark's message begins, for who reads the recording; not compared. */
  readonly message?: string | undefined;
}

/** Cases of one subject over tables of one format; a query without tables is of any. */
export interface RestatedSuite {
  /** File name of the recording. */
  readonly name: string;
  readonly format: 'delta' | 'iceberg';
  readonly cases: readonly RestatedCase[];
}

/** Statements whose rows are compared; of all others only whether they are refused. */
export function isQuery(statement: string): boolean {
  if (/^\s*WITH\b.*\)\s*(?:MERGE|UPDATE|DELETE|INSERT)\b/is.test(statement)) return false;
  return /^\s*(?:SELECT|WITH|VALUES|FROM|TABLE|SHOW|DESCRIBE|DESC|CALL)\b/i.test(statement);
}

/** The texts of a case's steps, with names that no other case uses. */
export function stepsOf({ name, format }: RestatedSuite, { title, steps }: RestatedCase, directory: string): readonly string[] {
  const own = `${name}_${title}`.replaceAll(/\W+/g, '_').toLowerCase();
  const table = (letter: string): string =>
    format === 'delta' ? `delta.\`${directory}/${own}/${letter}\`` : `lake.cases.${shortened(own)}_${letter}`;
  return steps.map((step) =>
    step
      .replaceAll(/\{([tsu])\}/g, (_, letter: string) => table(letter))
      .replaceAll('{v}', `${own}_v`)
      .replaceAll('{n}', `${own}_n`)
      .replaceAll('{path}', `${directory}/${own}/t`),
  );
}

/** Names in catalogs have a limit; what is cut off still tells cases apart. */
function shortened(name: string): string {
  return `${name.slice(0, 70)}_${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
}
