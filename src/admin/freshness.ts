import type { JsonObject } from '../base/bigint-json.ts';
import { type ServiceError, serviceError } from '../base/errors.ts';
import { factsJson } from '../base/json-value.ts';
import type { CommitAccounting } from '../protocol/commit-accounting.ts';

/** Which record is asked about: its place in its topic. */
export interface FreshnessRequest {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
  /** Only this table. Default: every table that the topic feeds. */
  readonly table?: string | undefined;
}

/**
 * Where a record is, as one table has it.
 *
 * - `visible`: it is in rows of `version`, and has been since then. Keys may have other rows by now, others may have deleted it.
 * - `dead-letter`: it did not fit, and is in the dead-letter topic.
 * - `filtered`: the commit of `version` read it, and it is no row: left out by `where`, a tombstone, or passed over by the route.
 * - `other-table`: another table of the divided route takes it.
 * - `covered`: the commit of `version` read it; whether it is a row of it nobody can say any more, or not without the broker.
 * - `passed-over`: it was not read: the table begins behind it, or an operator decided so.
 * - `undone`: `version` put the table back (RESTORE) to one before its own; it is not read again.
 * - `not-yet`: the table has everything before `nextOffset`, which is at or before it.
 * - `not-read`: the table has nothing of the partition yet, or of another incarnation of the topic.
 * - `forgotten`: the table has passed it, and its commit is not in the history any more.
 * - `no-table`: there is no table yet.
 */
export type FreshnessState =
  | 'visible'
  | 'dead-letter'
  | 'filtered'
  | 'other-table'
  | 'covered'
  | 'passed-over'
  | 'undone'
  | 'not-yet'
  | 'not-read'
  | 'forgotten'
  | 'no-table';

/** Where the letter of a record lies. */
export interface LetterFound {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
  readonly reason: string | undefined;
  /** ISO 8601. */
  readonly rejectedAt: string | undefined;
}

export interface TableFreshness {
  readonly table: string;
  readonly state: FreshnessState;
  /** The version of the table that the record came with, or was passed in. */
  readonly version?: number | undefined;
  /** When that was committed, ISO 8601. */
  readonly since?: string | undefined;
  /** Everything before it is in the table. */
  readonly nextOffset?: bigint | undefined;
  /** How many offsets of the partition the table must still take until it has this one, itself included. */
  readonly behind?: bigint | undefined;
  readonly letter?: LetterFound | undefined;
  /** What the commit says of all that it read. */
  readonly commit?: Pick<CommitAccounting, 'records' | 'rows' | 'deadLettered' | 'filtered'> | undefined;
  /** In words. */
  readonly detail: string;
}

export interface TopicFreshness extends Omit<FreshnessRequest, 'table'> {
  /** End of the partition for readers of committed records; `undefined`: the broker was not asked, or did not answer. */
  readonly endOffset: bigint | undefined;
  readonly tables: readonly TableFreshness[];
}

/** Whether waiting may change it. */
export function isPending({ state }: Pick<TableFreshness, 'state'>): boolean {
  return state === 'not-yet' || state === 'not-read' || state === 'no-table';
}

/** As `/v1/freshness` answers: absent values as null, 64-bit offsets as numbers of any size. */
export function freshnessJson({ tables, ...at }: TopicFreshness): JsonObject {
  return { ...factsJson(at), tables: tables.map(tableFreshnessJson) };
}

export function tableFreshnessJson(found: TableFreshness): JsonObject {
  const { table, state, version, since, nextOffset, behind, letter, commit, detail } = found;
  return factsJson({ table, state, version, since, nextOffset, behind, letter, commit, detail });
}

const parameters = new Set(['topic', 'partition', 'offset', 'table']);

/**
 * What a query asks.
 *
 * @throws ServiceError `ADMIN_QUERY_INVALID` (invalid) naming the parameter.
 */
export function freshnessRequestOf(query: URLSearchParams): FreshnessRequest {
  for (const name of query.keys()) {
    if (!parameters.has(name)) throw invalidQuery(`"${name}" is no parameter`);
    if (query.getAll(name).length > 1) throw invalidQuery(`"${name}" is given more than once`);
  }
  const [topic, table] = [query.get('topic') ?? '', query.get('table')];
  if (topic === '') throw invalidQuery('"topic" is missing');
  const number = (name: string): bigint => {
    const text = query.get(name) ?? '';
    if (!/^\d{1,18}$/.test(text)) throw invalidQuery(`"${name}" must be a whole number, not "${text}"`);
    return BigInt(text);
  };
  return { topic, partition: Number(number('partition')), offset: number('offset'), table: table ?? undefined };
}

function invalidQuery(what: string): ServiceError {
  return serviceError.invalid('ADMIN_QUERY_INVALID', `the query cannot be answered: ${what}`, {
    hint: 'ask as /v1/freshness?topic=orders&partition=0&offset=42, with &table= for one table only',
  });
}
