import { ServiceError } from '../base/errors.ts';
import { formatDecimal, parseDecimal } from '../schema/decimal-text.ts';
import type { Field } from '../schema/types.ts';
import { IsoTimeWriter, parseIsoDate, parseIsoTimestamp } from './iso-time.ts';
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
    throw new ServiceError({
      code: 'CDF_PARTITION_VALUE_INVALID',
      kind: 'corrupt',
      message: `partition column "${field.name}": "${text}" is not a ${field.type.kind}`,
    });
  }
  return out.copy();
}

function append(out: JsonBuffer, field: Field, text: string): boolean {
  const { type } = field;
  switch (type.kind) {
    case 'string':
      out.quotedText(text);
      return true;
    case 'boolean':
      if (text !== 'true' && text !== 'false') return false;
      out.ascii(text);
      return true;
    case 'byte':
    case 'short':
    case 'integer':
    case 'long':
      if (!/^[+-]?\d{1,19}$/.test(text)) return false;
      out.ascii(BigInt(text.replace(/^\+/, '')).toString());
      return true;
    case 'float':
    case 'double':
      return appendFloating(out, text);
    case 'decimal': {
      const unscaled = parseDecimal(text, type.precision, type.scale);
      if (unscaled !== undefined) out.ascii(`"${formatDecimal(unscaled, type.scale)}"`);
      return unscaled !== undefined;
    }
    case 'date': {
      const days = parseIsoDate(text);
      if (days !== undefined) new IsoTimeWriter().date(out, days);
      return days !== undefined;
    }
    case 'timestamp':
    case 'timestamp_ntz': {
      const micros = parseIsoTimestamp(text);
      if (micros === undefined) return false;
      const words = { low: Number(BigInt.asIntN(32, micros)), high: Number(micros >> 32n) };
      new IsoTimeWriter().timestamp(out, words, type.kind === 'timestamp');
      return true;
    }
    default:
      return false;
  }
}

function appendFloating(out: JsonBuffer, text: string): boolean {
  if (/^(NaN|-?Infinity)$/.test(text)) {
    out.ascii(`"${text}"`);
    return true;
  }
  const value = Number(text);
  if (!Number.isFinite(value)) return false;
  out.ascii(Object.is(value, -0) ? '-0.0' : String(value));
  return true;
}
