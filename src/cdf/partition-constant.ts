import { serviceError } from '../base/errors.ts';
import { formatDecimal } from '../schema/decimal-text.ts';
import type { Field } from '../schema/types.ts';
import { partitionValue } from '../table/partitioning/partition-text.ts';
import { IsoTimeWriter } from './iso-time.ts';
import { JsonBuffer } from './json-buffer.ts';

/**
 * The JSON bytes of a partition column's value, from the text of the table's log. Both spellings of a timestamp give the same bytes.
 * The empty text is null, as it is for every Delta reader.
 *
 * @throws ServiceError `CDF_PARTITION_VALUE_INVALID` (kind corrupt) when the text is no value of the column's type.
 */
export function partitionConstant(field: Field, text: string | undefined): Uint8Array {
  const out = new JsonBuffer();
  if (text === undefined || text === '') out.ascii('null');
  else if (!append(out, field, text)) {
    throw serviceError.corrupt('CDF_PARTITION_VALUE_INVALID', `partition column "${field.name}": "${text}" is not a ${field.type.kind}`);
  }
  return out.copy();
}

function append(out: JsonBuffer, { type }: Field, text: string): boolean {
  const value = partitionValue(text, type);
  switch (typeof value) {
    case 'string':
      out.quotedText(value);
      return true;
    case 'boolean':
      out.ascii(String(value));
      return true;
    case 'number':
      if (type.kind === 'date') new IsoTimeWriter().date(out, value);
      else if (Number.isFinite(value)) out.ascii(Object.is(value, -0) ? '-0.0' : String(value));
      else out.ascii(`"${value}"`);
      return true;
    case 'bigint':
      if (type.kind === 'long') out.ascii(value.toString());
      else if (type.kind === 'decimal') out.ascii(`"${formatDecimal(value, type.scale)}"`);
      else {
        const words = { low: Number(BigInt.asIntN(32, value)), high: Number(value >> 32n) };
        new IsoTimeWriter().timestamp(out, words, type.kind === 'timestamp');
      }
      return true;
    default:
      return false;
  }
}
