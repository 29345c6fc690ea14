import { serviceError } from '../../base/errors.ts';
import { BytesBuilder } from '../../codec/columns/bytes-builder.ts';
import type { ColumnBuilder } from '../../codec/columns/column-builder.ts';
import { Int32Builder } from '../../codec/columns/int32-builder.ts';
import { Int64Builder } from '../../codec/columns/int64-builder.ts';
import { ListBuilder, StructBuilder } from '../../codec/columns/nested-builders.ts';
import { printColumnType } from '../../expr/parse/column-type.ts';
import type { DataType } from '../../schema/types.ts';
import { type LetterMember, type LetterValue, letterMembers } from '../letters/letter-members.ts';
import { letterContentOf } from '../letters/stored-letter.ts';
import type { PayloadDecoder, PayloadMember } from './payload-decoder.ts';
import type { Rejection } from './rejection.ts';
import type { SourceRecord } from './source-record.ts';

type Headers = ReturnType<typeof letterContentOf>['headers'];

interface LetterColumn {
  readonly member: LetterMember;
  readonly into: PayloadMember;
}

const utf8 = new TextEncoder();

/** A record of a dead-letter topic as a row: what it tells of the record that was rejected, and that record's bytes. */
export class LetterPayload implements PayloadDecoder {
  readonly #columns: readonly LetterColumn[];

  /** @throws ServiceError `DECODE_SPEC_INVALID` (kind invalid) for a member that letters do not have, and for one of another type. */
  constructor(members: readonly PayloadMember[]) {
    this.#columns = members.map((into) => ({ into, member: memberOf(into) }));
  }

  decode(record: SourceRecord): Rejection | undefined {
    const { data, keyStart, keyEnd, valueStart, valueEnd, timestampMs } = record;
    const key = keyStart < 0 ? undefined : data.subarray(keyStart, keyEnd);
    const value = valueStart < 0 ? undefined : data.subarray(valueStart, valueEnd);
    const letter = letterContentOf({ key, value, headers: record.headers(), timestampMs });
    for (const { member, into } of this.#columns) {
      const told = member.of(letter);
      if (told !== undefined) append(into.column, told);
      else if (into.nullable) into.column.appendNull();
      else
        return {
          reason: 'missing-required',
          message: `column "${into.label}": the letter does not tell its ${into.name} and the column is required`,
        };
    }
    return undefined;
  }
}

function append(column: ColumnBuilder, value: Exclude<LetterValue, undefined>): void {
  if (column instanceof BytesBuilder && typeof value === 'string') appendBytes(column, utf8.encode(value));
  else if (column instanceof BytesBuilder && value instanceof Uint8Array) appendBytes(column, value);
  else if (column instanceof Int32Builder && typeof value === 'number') column.append(value);
  else if (column instanceof Int64Builder && typeof value === 'bigint') column.appendBigInt(value);
  else if (column instanceof ListBuilder && column.element instanceof StructBuilder && isHeaders(value)) {
    const pair = column.element;
    for (const header of value) {
      for (const [index, child] of pair.children.entries()) append(child, header[index === 0 ? 0 : 1]);
      pair.end();
    }
    column.end();
  } else column.appendNull();
}

function isHeaders(value: LetterValue): value is Headers {
  return Array.isArray(value);
}

function appendBytes(column: BytesBuilder, bytes: Uint8Array): void {
  column.append(bytes, 0, bytes.length);
}

/** Whatever ids and required parts a table's own type has: a letter fills them all. */
function typeText(type: DataType): string {
  return printColumnType(type).replaceAll(' not null', '');
}

function memberOf({ name, label, type }: PayloadMember): LetterMember {
  const member = letterMembers.get(name);
  if (member !== undefined && typeText(member.type) === typeText(type)) return member;
  throw serviceError.invalid(
    'DECODE_SPEC_INVALID',
    member === undefined
      ? `column "${label}" takes "${name}" of a dead letter, which has no such member`
      : `column "${label}" of type ${typeText(type)} cannot hold "${name}" of a dead letter, which is ${typeText(member.type)}`,
    {
      hint: `leave the columns of the dead-letter table out, or take of ${[...letterMembers.keys()].join(', ')}; place and key of the letter itself are from: partition, offset, key`,
    },
  );
}
