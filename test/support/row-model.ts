import type { SeededRandom } from '../../src/base/seeded-random.ts';

/** A row of the model; also of the table, by its columns in this order. */
export interface ModelRow {
  readonly id: number;
  readonly k: number | null;
  readonly v: string | null;
  readonly p: string | null;
}

export type Truth = boolean | null;

/** A condition as text and as a function of three values. `t`: the row of the table, `s`: the source's. */
export interface ModelCondition {
  readonly sql: string;
  holds(t: ModelRow | undefined, s: ModelRow | undefined): Truth;
}

export interface ModelAssignment {
  readonly column: 'k' | 'v' | 'p';
  readonly sql: string;
  value(t: ModelRow | undefined, s: ModelRow | undefined): number | string | null;
}

export interface ModelClause {
  readonly on: 'matched' | 'not-matched' | 'not-matched-by-source';
  readonly action: 'update' | 'delete' | 'insert';
  readonly condition: ModelCondition | undefined;
  /** Of an insertion: all columns from the source. */
  readonly assignments: readonly ModelAssignment[];
}

/** What an operation does to the rows; `undefined`: refused, because several source rows want one row of the table. */
export interface ModelOutcome {
  readonly rows: readonly ModelRow[];
  readonly updated: number;
  readonly deleted: number;
  readonly inserted: number;
}

const partitions = ['x', 'y', 'z/%', null] as const;
const texts = ['a', "b'c", '', null] as const;

export function pick<T>(random: SeededRandom, options: readonly T[]): T {
  return options[Math.floor(random.next() * options.length)] as T;
}

export function below(random: SeededRandom, limit: number): number {
  return Math.floor(random.next() * limit);
}

export function randomRow(random: SeededRandom, id: number): ModelRow {
  return { id, k: random.next() < 0.15 ? null : below(random, 12), v: pick(random, texts), p: pick(random, partitions) };
}

/** A condition over one row, its columns qualified by `alias`. */
export function randomCondition(random: SeededRandom, alias: 't' | 's', depth = 2): ModelCondition {
  const row = (t: ModelRow | undefined, s: ModelRow | undefined): ModelRow => (alias === 't' ? t : s) as ModelRow;
  const kind = below(random, depth === 0 ? 4 : 7);
  const number = below(random, 12);
  const partition = pick(random, ['x', 'y', 'z/%']);
  switch (kind) {
    case 0:
      return { sql: `${alias}.k = ${number}`, holds: (t, s) => compared(row(t, s).k, (k) => k === number) };
    case 1:
      return { sql: `${alias}.k < ${number}`, holds: (t, s) => compared(row(t, s).k, (k) => k < number) };
    case 2:
      return { sql: `${alias}.p = '${partition}'`, holds: (t, s) => compared(row(t, s).p, (p) => p === partition) };
    case 3:
      return { sql: `${alias}.v IS NULL`, holds: (t, s) => row(t, s).v === null };
    case 4: {
      const inner = randomCondition(random, alias, depth - 1);
      return { sql: `NOT (${inner.sql})`, holds: (t, s) => compared(inner.holds(t, s), (truth) => !truth) };
    }
    default: {
      const [left, right] = [randomCondition(random, alias, depth - 1), randomCondition(random, alias, depth - 1)];
      return kind === 5
        ? { sql: `(${left.sql} AND ${right.sql})`, holds: (t, s) => and(left.holds(t, s), right.holds(t, s)) }
        : { sql: `(${left.sql} OR ${right.sql})`, holds: (t, s) => or(left.holds(t, s), right.holds(t, s)) };
    }
  }
}

/** Values for some columns; `withSource`: they may come from the source. */
export function randomAssignments(random: SeededRandom, options: { readonly withSource: boolean }): readonly ModelAssignment[] {
  const number = below(random, 5);
  const partition = pick(random, partitions);
  const all: readonly ModelAssignment[] = [
    { column: 'k', sql: `t.k + ${number}`, value: (t) => (t?.k === null || t === undefined ? null : t.k + number) },
    { column: 'v', sql: "concat(t.v, '!')", value: (t) => (t?.v === null || t === undefined ? null : `${t.v}!`) },
    { column: 'p', sql: partition === null ? 'NULL' : `'${partition}'`, value: () => partition },
    { column: 'v', sql: 'NULL', value: () => null },
  ];
  const fromSource: readonly ModelAssignment[] = [
    { column: 'v', sql: 's.v', value: (_, s) => s?.v ?? null },
    { column: 'p', sql: 's.p', value: (_, s) => s?.p ?? null },
    {
      column: 'k',
      sql: 't.k + s.k',
      value: (t, s) => (t?.k === null || s?.k === null || t === undefined || s === undefined ? null : t.k + s.k),
    },
  ];
  const possible = options.withSource ? [...all, ...fromSource] : all;
  const chosen = new Map<string, ModelAssignment>();
  for (let count = 1 + below(random, 2); count > 0; count -= 1) {
    const assignment = pick(random, possible);
    chosen.set(assignment.column, assignment);
  }
  return [...chosen.values()];
}

/** One to three clauses, in an order that is allowed. */
export function randomClauses(random: SeededRandom): readonly ModelClause[] {
  const clauses: ModelClause[] = [];
  const kinds = ['matched', 'not-matched', 'not-matched-by-source'] as const;
  for (const on of kinds) {
    const count = below(random, 3);
    for (let index = 0; index < count; index += 1) {
      const last = index === count - 1;
      const condition =
        last && random.next() < 0.5
          ? undefined
          : randomCondition(random, on === 'not-matched' || (on === 'matched' && random.next() < 0.4) ? 's' : 't', 1);
      const action = on === 'not-matched' ? 'insert' : pick(random, ['update', 'delete'] as const);
      const assignments = action === 'update' ? randomAssignments(random, { withSource: on === 'matched' }) : [];
      clauses.push({ on, action, condition, assignments });
    }
  }
  return clauses.length > 0 ? clauses : randomClauses(random);
}

export function deleteFrom(rows: readonly ModelRow[], condition: ModelCondition | undefined): ModelOutcome {
  const kept = rows.filter((row) => condition !== undefined && condition.holds(row, undefined) !== true);
  return { rows: kept, updated: 0, deleted: rows.length - kept.length, inserted: 0 };
}

export function updateOf(
  rows: readonly ModelRow[],
  condition: ModelCondition | undefined,
  assignments: readonly ModelAssignment[],
): ModelOutcome {
  const matches = (row: ModelRow): boolean => condition === undefined || condition.holds(row, undefined) === true;
  return {
    rows: rows.map((row) => (matches(row) ? assigned(row, assignments, undefined) : row)),
    updated: rows.filter(matches).length,
    deleted: 0,
    inserted: 0,
  };
}

export function mergeInto(
  rows: readonly ModelRow[],
  source: readonly ModelRow[],
  condition: ModelCondition,
  clauses: readonly ModelClause[],
): ModelOutcome | undefined {
  const of = (on: ModelClause['on']): readonly ModelClause[] => clauses.filter((clause) => clause.on === on);
  const first = (on: ModelClause['on'], t: ModelRow | undefined, s: ModelRow | undefined): ModelClause | undefined =>
    of(on).find((clause) => clause.condition === undefined || clause.condition.holds(t, s) === true);
  const [only, ...others] = of('matched');
  const deletesOnly = others.length === 0 && only?.action === 'delete' && only.condition === undefined;
  // Whether several rows match decides, not whether the clauses' conditions leave one of them.
  const ambiguous = only !== undefined && !deletesOnly;
  const result: ModelRow[] = [];
  let [updated, deleted, inserted] = [0, 0, 0];
  const used = new Set<ModelRow>();
  for (const row of rows) {
    const matching = source.filter((candidate) => condition.holds(row, candidate) === true);
    for (const candidate of matching) used.add(candidate);
    const wanted = matching.flatMap((candidate) => {
      const clause = first('matched', row, candidate);
      return clause === undefined ? [] : [{ clause, candidate }];
    });
    if (ambiguous && matching.length > 1) return undefined;
    const clause = matching.length === 0 ? first('not-matched-by-source', row, undefined) : wanted[0]?.clause;
    if (clause?.action === 'delete') deleted += 1;
    else if (clause?.action === 'update') {
      updated += 1;
      result.push(assigned(row, clause.assignments, wanted[0]?.candidate));
    } else result.push(row);
  }
  for (const candidate of source) {
    if (used.has(candidate) || first('not-matched', undefined, candidate) === undefined) continue;
    inserted += 1;
    result.push(candidate);
  }
  return { rows: result, updated, deleted, inserted };
}

function assigned(row: ModelRow, assignments: readonly ModelAssignment[], source: ModelRow | undefined): ModelRow {
  return { ...row, ...Object.fromEntries(assignments.map((assignment) => [assignment.column, assignment.value(row, source)])) };
}

function compared<Value>(value: Value | null, test: (value: Value) => boolean): Truth {
  return value === null ? null : test(value);
}

function and(left: Truth, right: Truth): Truth {
  if (left === false || right === false) return false;
  return left === null || right === null ? null : true;
}

function or(left: Truth, right: Truth): Truth {
  if (left === true || right === true) return true;
  return left === null || right === null ? null : false;
}
