import { serviceError } from '../../../base/errors.ts';
import { BooleanBuilder } from '../../../codec/columns/boolean-builder.ts';
import { BytesBuilder } from '../../../codec/columns/bytes-builder.ts';
import { describeType } from '../../../schema/describe-type.ts';
import type { PayloadMember } from '../payload-decoder.ts';

const texts = [new TextEncoder().encode('false'), new TextEncoder().encode('true')] as const;

/**
 * Tells the column `__deleted` of each row: a boolean, or the text that Debezium's own unwrapping writes.
 *
 * @throws ServiceError `DECODE_SPEC_INVALID` (kind invalid) for a column of another type.
 */
export function deletedColumn(member: PayloadMember | undefined): (deleted: boolean) => void {
  if (member === undefined) return () => undefined;
  const { column, type, label } = member;
  if (column instanceof BooleanBuilder)
    return (deleted) => {
      column.append(deleted);
    };
  if (column instanceof BytesBuilder && column.type.kind === 'string')
    return (deleted) => {
      const text = texts[deleted ? 1 : 0];
      column.append(text, 0, text.length);
    };
  throw serviceError.invalid(
    'DECODE_SPEC_INVALID',
    `column "${label}" of type ${describeType(type)} cannot hold whether the row was deleted`,
    { hint: 'use a column of type boolean, or of type string for "true" and "false"' },
  );
}
