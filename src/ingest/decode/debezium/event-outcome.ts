import type { PassReason } from '../../../protocol/sealed-batch.ts';

/** What of an event says whether it has a row. */
export interface SeenOfEvent {
  /** One letter; empty when there is none. */
  readonly op: string;
  /** Whether `after`, or `before`, is there and not null. */
  readonly after: boolean;
  readonly before: boolean;
  /** Names of all members that it has. */
  has(name: string): boolean;
  readonly memberCount: number;
}

/** Which row is taken, or why there is none; `fault`: it is no event of Debezium. */
export type EventOutcome = { readonly row: 'after' | 'before' } | { readonly noRow: PassReason } | { readonly fault: string };

const outcomes = { after: { row: 'after' }, before: { row: 'before' } } as const;
const rowOf: Readonly<Record<string, 'after' | 'before'>> = { c: 'after', u: 'after', r: 'after', d: 'before' };
const withoutRow: Readonly<Record<string, PassReason>> = { t: 'truncate', m: 'message' };

/** Decides by the operation; heartbeats and the bounds of transactions have none, and are known by exactly their members. */
export function outcomeOf(seen: SeenOfEvent): EventOutcome {
  const { op } = seen;
  if (op === '') return withoutOperation(seen);
  const noRow = withoutRow[op];
  if (noRow !== undefined) return { noRow };
  const row = rowOf[op];
  if (row === undefined) return { fault: `is no event of Debezium: its operation "${op.slice(0, 16)}" is none of c, u, d, r, t and m` };
  if (!seen[row]) return { fault: `is no event of Debezium: its operation is "${op}" and it has no "${row}"` };
  if (row === 'before' && seen.after) return { fault: 'is no event of Debezium: its operation is "d" and it has an "after"' };
  return outcomes[row];
}

function withoutOperation(seen: SeenOfEvent): EventOutcome {
  if (seen.has('ts_ms') && seen.memberCount === 1) return { noRow: 'heartbeat' };
  if (seen.has('status') && seen.has('id') && !seen.after && !seen.before) return { noRow: 'transaction' };
  if (seen.has('schema') && seen.has('payload'))
    return {
      fault: 'is no event of Debezium but has one in its "payload", beside its "schema": set value.format of the route to connect-json',
    };
  return { fault: 'is no event of Debezium: it has no "op"' };
}
