import { type AvroRecord, type AvroType, withoutNull } from '../../../codec/avro/avro-type.ts';
import type { ByteCursor } from '../../../codec/avro/byte-cursor.ts';
import { valueSkipper } from '../../../codec/avro/skip-values.ts';
import type { DecodeSpec } from '../../../protocol/sealed-batch.ts';
import { deletedColumn } from '../debezium/deleted-column.ts';
import { type EventMembers, eventMembers } from '../debezium/event-members.ts';
import { outcomeOf } from '../debezium/event-outcome.ts';
import type { PayloadMember } from '../payload-decoder.ts';
import { ValueRefused } from '../value-refused.ts';
import { appendAbsent, type RecordReader, recordReader, unreadFields, valueReader } from './payload-readers.ts';

/** What one event has said so far. */
interface EventState {
  op: string;
  after: boolean;
  /** Where the row before the change stands; -1: nowhere. */
  beforeAt: number;
}

type Step = (cursor: ByteCursor, state: EventState) => void;
/** Whether there was something. */
type PartReader = (cursor: ByteCursor) => boolean;

/** The reader of Debezium's change events that were written with `stored`: the row after the change or, where it was deleted, before. */
export function eventReader(
  stored: AvroRecord,
  members: readonly PayloadMember[],
  unknownMembers: DecodeSpec['unknownMembers'],
): RecordReader {
  const parts = eventMembers(members);
  const tellDeleted = deletedColumn(parts.deleted);
  const names = new Set(stored.fields.map(({ name }) => name));
  const has = (name: string): boolean => names.has(name);
  const steps = stored.fields.map(({ name, type }) => stepOf(name, type, parts, unknownMembers));
  const typeOfBefore = stored.fields.find(({ name }) => name === 'before')?.type;
  const readBefore = typeOfBefore === undefined ? undefined : partReader('before', typeOfBefore, parts.row, unknownMembers);
  const absent = [
    ...parts.event.filter(({ name }) => !has(name)),
    ...(has('source') ? [] : parts.source),
    ...(has('transaction') ? [] : parts.transaction),
  ];
  return (cursor) => {
    const state: EventState = { op: '', after: false, beforeAt: -1 };
    for (const step of steps) step(cursor, state);
    const { op, after, beforeAt } = state;
    const outcome = outcomeOf({ op, after, before: beforeAt >= 0, has, memberCount: names.size });
    if ('noRow' in outcome) return outcome.noRow;
    if ('fault' in outcome) throw new ValueRefused('', 'not-an-event', `the payload ${outcome.fault}`);
    const deleted = outcome.row === 'before';
    if (deleted) {
      const { at } = cursor;
      cursor.goTo(beforeAt);
      readBefore?.(cursor);
      cursor.goTo(at);
    }
    tellDeleted(deleted);
    for (const member of absent) appendAbsent(member);
    return undefined;
  };
}

/** Fields of the row that no column takes. */
export function unreadInEvent(stored: AvroRecord, members: readonly PayloadMember[]): number {
  const row = rowOfEvent(stored);
  return row === undefined ? 0 : unreadFields(row, eventMembers(members).row);
}

/** The row that events have, after a change. */
export function rowOfEvent(stored: AvroRecord): AvroRecord | undefined {
  const after = stored.fields.find(({ name }) => name === 'after')?.type;
  const row = after === undefined ? undefined : withoutNull(after).type;
  return row?.kind === 'record' ? row : undefined;
}

function stepOf(name: string, type: AvroType, parts: EventMembers, unknownMembers: DecodeSpec['unknownMembers']): Step {
  const skip = valueSkipper(type);
  switch (name) {
    case 'before': {
      const isThere = presence(type);
      return (cursor, state) => {
        const { at } = cursor;
        if (isThere(cursor)) state.beforeAt = at;
        cursor.goTo(at);
        skip(cursor);
      };
    }
    case 'after': {
      const read = partReader(name, type, parts.row, unknownMembers);
      return (cursor, state) => {
        state.after = read(cursor);
      };
    }
    case 'source':
    case 'transaction': {
      const members = parts[name];
      if (members.length === 0) return skip;
      const read = partReader(name, type, members, 'ignore');
      return (cursor) => {
        if (!read(cursor)) for (const member of members) appendAbsent(member);
      };
    }
    default: {
      const member = parts.event.find((each) => each.name === name);
      const read = member === undefined ? skip : valueReader(type, member, 'ignore');
      return name === 'op' ? operationStep(type, read) : read;
    }
  }
}

function operationStep(type: AvroType, read: (cursor: ByteCursor) => unknown): Step {
  const branches = type.kind === 'union' ? type.branches : [type];
  return (cursor, state) => {
    const { at } = cursor;
    const branch = branches[type.kind === 'union' ? cursor.branch(branches.length) : 0];
    if (branch?.kind === 'string') state.op = cursor.text();
    cursor.goTo(at);
    read(cursor);
  };
}

function presence(type: AvroType): PartReader {
  if (type.kind !== 'union') return () => type.kind !== 'null';
  return (cursor) => type.branches[cursor.branch(type.branches.length)]?.kind !== 'null';
}

function partReader(
  name: string,
  type: AvroType,
  members: readonly PayloadMember[],
  unknownMembers: DecodeSpec['unknownMembers'],
): PartReader {
  if (type.kind === 'null') return () => false;
  if (type.kind === 'union') {
    const branches = type.branches.map((branch) => partReader(name, branch, members, unknownMembers));
    return (cursor) => branches[cursor.branch(branches.length)]?.(cursor) === true;
  }
  if (type.kind !== 'record')
    return () => {
      throw new ValueRefused(
        '',
        'not-an-event',
        `the payload is no event of Debezium: its "${name}" is of Avro type ${type.kind}, not a record`,
      );
    };
  const read = recordReader(type, members, unknownMembers);
  return (cursor) => {
    read(cursor);
    return true;
  };
}
