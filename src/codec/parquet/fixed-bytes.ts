import { type ServiceError, serviceError } from '../../base/errors.ts';
import { type BytesColumn, isValid } from '../../schema/columns.ts';
import { UUID_BYTES, uuidBytes, uuidText } from '../uuid-text.ts';

/**
 * The values of a column that all have so many bytes (UUIDs: their text), one behind the other; zeros for nulls.
 *
 * @throws ServiceError `VALUE_TYPE_MISMATCH` (kind invalid) for a value of another length.
 */
export function fixedBytes(column: BytesColumn, width: number): Uint8Array {
  const target = new Uint8Array(column.length * width);
  const isUuid = column.type.kind === 'string';
  for (let row = 0; row < column.length; row++) {
    if (!isValid(column, row)) continue;
    const [from, until] = [column.offsets[row] ?? 0, column.offsets[row + 1] ?? 0];
    const given = column.data.subarray(from, until);
    const value = isUuid ? uuidBytes(Buffer.from(given).toString('latin1')) : given;
    if (value?.length !== width) throw mismatch(given, width, isUuid);
    target.set(value, row * width);
  }
  return target;
}

function mismatch(given: Uint8Array, width: number, isUuid: boolean): ServiceError {
  const problem = isUuid
    ? `"${Buffer.from(given).toString('utf8').slice(0, 80)}" is no UUID`
    : `a value of ${given.length} bytes is not one of ${width}`;
  return serviceError.invalid('VALUE_TYPE_MISMATCH', problem);
}

/** Text of the UUIDs that stand one behind the other, with the offsets of a column; nothing for nulls (`valid`: a bitmap). */
export function uuidTexts(bytes: Uint8Array, length: number, valid: (row: number) => boolean): { offsets: Int32Array; data: Uint8Array } {
  const offsets = new Int32Array(length + 1);
  const texts: Uint8Array[] = [];
  for (let row = 0; row < length; row++) {
    const text = valid(row) ? uuidText(bytes.subarray(row * UUID_BYTES, (row + 1) * UUID_BYTES)) : new Uint8Array(0);
    texts.push(text);
    offsets[row + 1] = (offsets[row] ?? 0) + text.length;
  }
  return { offsets, data: Buffer.concat(texts) };
}
