import { encodeHeaders, type RecordHeaders } from '../kafka/record-batch-builder.ts';

/**
 * The headers of a version's records in wire form: `version`, `committed_at` (epoch milliseconds), `ordinal`, and `snapshot` or
 * `tombstone` with the text `true` where they apply. One array is used again for all ordinals of the same number of digits.
 */
export class EventHeaders {
  readonly #before: RecordHeaders;
  readonly #byDigits = new Map<number, Uint8Array>();

  constructor(options: {
    readonly version: number;
    readonly committedAtMs: number;
    readonly snapshot: boolean;
    readonly tombstone: boolean;
  }) {
    const { snapshot, tombstone } = options;
    this.#before = [
      ['version', text(String(options.version))],
      ['committed_at', text(String(options.committedAtMs))],
      ...(snapshot ? [['snapshot', text('true')] as const] : []),
      ...(tombstone ? [['tombstone', text('true')] as const] : []),
    ];
  }

  /** Valid until the next call. */
  at(ordinal: number): Uint8Array {
    const digits = String(ordinal);
    let bytes = this.#byDigits.get(digits.length);
    if (bytes === undefined) {
      // The ordinal is the last header, so that its digits are the array's end.
      bytes = encodeHeaders([...this.#before, ['ordinal', text(digits)]]);
      this.#byDigits.set(digits.length, bytes);
    }
    const from = bytes.length - digits.length;
    for (let i = 0; i < digits.length; i++) bytes[from + i] = digits.charCodeAt(i);
    return bytes;
  }
}

function text(value: string): Uint8Array {
  return Buffer.from(value, 'latin1');
}
