import type { PayloadMember } from '../payload-decoder.ts';

/** The parts of a change event that columns take members of, besides the row. */
export type EventPart = 'event' | 'source' | 'transaction';

/** The members that columns take, by the part of the event that has them, each with its name there. */
export interface EventMembers extends Readonly<Record<EventPart, readonly PayloadMember[]>> {
  readonly row: readonly PayloadMember[];
  /** The column that tells whether the row was deleted. */
  readonly deleted: PayloadMember | undefined;
}

/** Members of the event itself; every other name is one of its source. */
const ofEvent: ReadonlySet<string> = new Set(['op', 'ts_ms', 'ts_us', 'ts_ns']);
const deletedName = '__deleted';
const named = /^__(?:(source|transaction)_)?(.+)$/;

/**
 * Sorts members by Debezium's own names of them, those of its ExtractNewRecordState: `__op`, `__source_ts_ms`, `__lsn` (of the source),
 * `__transaction_id`, `__deleted`. All others are of the row.
 */
export function eventMembers(members: readonly PayloadMember[]): EventMembers {
  const parts = { event: new Array<PayloadMember>(), source: new Array<PayloadMember>(), transaction: new Array<PayloadMember>() };
  const row: PayloadMember[] = [];
  for (const member of members) {
    const found = named.exec(member.name);
    if (member.name === deletedName) continue;
    if (found === null) row.push(member);
    else {
      const name = found[2] ?? '';
      const part = (found[1] as 'source' | 'transaction' | undefined) ?? (ofEvent.has(name) ? 'event' : 'source');
      parts[part].push({ ...member, name });
    }
  }
  return { ...parts, row, deleted: members.find(({ name }) => name === deletedName) };
}
