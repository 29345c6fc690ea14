import { ServiceError } from '../../base/errors.ts';
import type { DeletionVector } from '../actions.ts';

// Z85 (ZeroMQ RFC 32).
const alphabet = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#';
const encodedUuidLength = 20;

/**
 * The stored path of the file that holds a deletion vector; `undefined` for one that is inline or lies at an absolute place outside the
 * table's own naming, which nothing here ever deletes.
 *
 * @throws ServiceError `DELTA_LOG_CORRUPT` (kind corrupt) when the descriptor cannot be read.
 */
export function deletionVectorPath(vector: DeletionVector): string | undefined {
  if (vector.storageType !== 'u') return undefined;
  const prefix = vector.pathOrInlineDv.slice(0, -encodedUuidLength);
  const hex = decodeZ85(vector.pathOrInlineDv.slice(-encodedUuidLength));
  const uuid = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
  return `${prefix === '' ? '' : `${prefix}/`}deletion_vector_${uuid}.bin`;
}

function decodeZ85(text: string): string {
  let hex = '';
  for (let start = 0; start < encodedUuidLength; start += 5) {
    let word = 0;
    for (const character of text.slice(start, start + 5).padEnd(5)) {
      const digit = alphabet.indexOf(character);
      if (digit < 0) {
        throw new ServiceError({
          code: 'DELTA_LOG_CORRUPT',
          kind: 'corrupt',
          message: `deletion vector "${text}" is not Z85 text of a UUID`,
        });
      }
      word = word * 85 + digit;
    }
    hex += word.toString(16).padStart(8, '0');
  }
  return hex;
}
