import { type ServiceError, serviceError } from '../../base/errors.ts';

// Z85 (ZeroMQ RFC 32): four bytes, big-endian, as five digits of base 85.
const alphabet = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#';

/** @param where for the message, e.g. `of table "t"`. @throws ServiceError `DELTA_DELETION_VECTOR_CORRUPT` (corrupt) when the text is not Z85. */
export function decodeZ85(text: string, where: string = ''): Uint8Array {
  if (text.length % 5 !== 0) throw notZ85(text, where);
  const bytes = new Uint8Array((text.length / 5) * 4);
  const view = new DataView(bytes.buffer);
  for (let block = 0; block * 5 < text.length; block += 1) {
    let word = 0;
    for (let digit = 0; digit < 5; digit += 1) {
      const value = alphabet.indexOf(text.charAt(block * 5 + digit));
      if (value < 0) throw notZ85(text, where);
      word = word * 85 + value;
    }
    if (word > 0xffff_ffff) throw notZ85(text, where);
    view.setUint32(block * 4, word);
  }
  return bytes;
}

/** Bytes that are not a multiple of four are padded with zeros. */
export function encodeZ85(bytes: Uint8Array): string {
  const padded = new Uint8Array(Math.ceil(bytes.byteLength / 4) * 4);
  padded.set(bytes);
  const view = new DataView(padded.buffer);
  let text = '';
  for (let offset = 0; offset < padded.byteLength; offset += 4) {
    let word = view.getUint32(offset);
    let block = '';
    for (let digit = 0; digit < 5; digit += 1) {
      block = alphabet.charAt(word % 85) + block;
      word = Math.floor(word / 85);
    }
    text += block;
  }
  return text;
}

function notZ85(text: string, where: string): ServiceError {
  return serviceError.corrupt(
    'DELTA_DELETION_VECTOR_CORRUPT',
    `deletion vector${where === '' ? '' : ` ${where}`}: "${text.slice(0, 100)}" is not Z85 text`,
    { hint: 'the log is damaged or was written by a broken writer; restore the commit from a copy' },
  );
}
