import type { DataType } from '../../schema/types.ts';
import type { ColumnSettings } from '../column-settings.ts';
import type { StoredLetter } from './stored-letter.ts';

const text: DataType = { kind: 'string' };
const bytes: DataType = { kind: 'binary' };

/** What a member of a letter is, as a value of its type's kind; `undefined`: the letter does not say. */
export type LetterValue = string | number | bigint | Uint8Array | StoredLetter['headers'] | undefined;

export interface LetterMember {
  readonly type: DataType;
  /** Times are microseconds since 1970. */
  readonly of: (letter: Omit<StoredLetter, 'place'>) => LetterValue;
}

const lastInt = 2_147_483_647;
// The years 0001 to 9999.
const firstMs = -62_135_596_800_000;
const untilMs = 253_402_300_800_000;

/** What a row of a letter may have, in the order of the columns when none are given. */
export const letterMembers: ReadonlyMap<string, LetterMember> = new Map([
  ['reason', { type: text, of: ({ reason }) => reason }],
  ['stage', { type: text, of: ({ stage }) => stage }],
  ['message', { type: text, of: ({ message }) => message }],
  ['pipeline', { type: text, of: ({ pipeline }) => pipeline }],
  ['table_name', { type: text, of: ({ table }) => table }],
  ['source_topic', { type: text, of: ({ source }) => source.topic }],
  ['source_partition', { type: { kind: 'integer' }, of: ({ source }) => integer(source.partition) }],
  ['source_offset', { type: { kind: 'long' }, of: ({ source }) => source.offset }],
  ['source_timestamp', { type: { kind: 'timestamp' }, of: ({ timestampMs }) => instant(timestampMs === -1 ? Number.NaN : timestampMs) }],
  ['until_offset', { type: { kind: 'long' }, of: ({ untilOffset }) => untilOffset }],
  ['rejected_at', { type: { kind: 'timestamp' }, of: ({ rejectedAt }) => instant(Date.parse(rejectedAt ?? '')) }],
  ['times_replayed', { type: { kind: 'integer' }, of: ({ history }) => history?.times ?? 0 }],
  ['first_reason', { type: text, of: ({ history, reason }) => history?.firstReason ?? reason }],
  [
    'first_rejected_at',
    { type: { kind: 'timestamp' }, of: ({ history, rejectedAt }) => instant(Date.parse(history?.firstRejectedAt ?? rejectedAt ?? '')) },
  ],
  ['cut', { type: text, of: ({ cut }) => (cut.length === 0 ? undefined : cut.map(({ part }) => part).join(',')) }],
  ['key', { type: bytes, of: ({ key }) => key }],
  ['value', { type: bytes, of: ({ value }) => value }],
  [
    'headers',
    {
      // Not a map: a record may have several headers of a name.
      type: {
        kind: 'list',
        element: {
          kind: 'struct',
          fields: [
            { name: 'name', type: text, nullable: true },
            { name: 'value', type: bytes, nullable: true },
          ],
        },
        elementNullable: true,
      },
      of: ({ headers }) => headers,
    },
  ],
] satisfies readonly (readonly [string, LetterMember])[]);

/** The columns of the dead-letter table when the configuration gives none: where the letter lies, and all it tells. */
export const letterColumns: readonly ColumnSettings[] = [
  { name: 'letter_partition', type: { kind: 'integer' }, nullable: true, source: { kind: 'partition' } },
  { name: 'letter_offset', type: { kind: 'long' }, nullable: true, source: { kind: 'offset' } },
  ...[...letterMembers].map(([name, { type }]) => ({ name, type, nullable: true, source: { kind: 'value', name } }) as const),
];

function integer(value: number | undefined): number | undefined {
  return value !== undefined && value <= lastInt ? value : undefined;
}

function instant(timeMs: number): bigint | undefined {
  return timeMs >= firstMs && timeMs < untilMs ? BigInt(Math.trunc(timeMs)) * 1000n : undefined;
}
