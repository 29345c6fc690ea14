import { encodeHeaders, type RecordHeaders } from '../kafka/records/record-batch-builder.ts';
import { digitCount } from './encoding/record-buffer.ts';

/** What a record says about the feed it is of: enough to find the feed's position in its topic. */
export interface EventOrigin {
  readonly pipeline: string;
  readonly table: string;
  readonly tableId: string;
}

/** The header `feed`: the feed's identity without the topic, which the record lies in. */
export function feedHeaderOf(origin: Pick<EventOrigin, 'pipeline' | 'table'>): string {
  return `${origin.pipeline}/${origin.table}`;
}

/**
 * The headers of a version's records in wire form: `version`, `committed_at` (epoch milliseconds), `feed`, `table_id`, `link` where the
 * version has one, `ordinal`, `op`, and `snapshot` or `tombstone` with the text `true` where they apply; `rows` of a truncation. One array is used again for all ordinals of
 * the same number of digits.
 */
export class EventHeaders {
  readonly #before: RecordHeaders;
  readonly #idStart: string | undefined;
  readonly #byDigits: (Uint8Array | undefined)[] = [];

  constructor(options: {
    readonly version: number;
    readonly committedAtMs: number;
    readonly snapshot: boolean;
    readonly tombstone: boolean;
    /** What the event says of its row; absent where the record is one row of several. */
    readonly operation?: string | undefined;
    readonly contentType?: string | undefined;
    /** Of a CloudEvent in binary mode; its id ends with the ordinal. */
    readonly event?: { readonly idStart: string; readonly texts: ReadonlyMap<string, string> } | undefined;
    readonly origin: EventOrigin;
    readonly link: string | undefined;
    /** How many rows the event takes away, where it is more than the one that it tells. */
    readonly rows?: number | undefined;
  }) {
    const { snapshot, tombstone, operation, contentType, event, origin, link, rows } = options;
    this.#idStart = event?.idStart;
    this.#before = [
      ...(contentType === undefined ? [] : [['content-type', text(contentType)] as const]),
      ...[...(event?.texts ?? [])].map(([name, value]) => [name, Buffer.from(value)] as const),
      ['version', text(String(options.version))],
      ['committed_at', text(String(options.committedAtMs))],
      ...(snapshot ? [['snapshot', text('true')] as const] : []),
      ...(tombstone ? [['tombstone', text('true')] as const] : []),
      ...(operation === undefined ? [] : [['op', text(operation)] as const]),
      ['feed', Buffer.from(feedHeaderOf(origin))],
      ['table_id', Buffer.from(origin.tableId)],
      ...(link === undefined ? [] : [['link', text(link)] as const]),
      ...(rows === undefined ? [] : [['rows', text(String(rows))] as const]),
    ];
  }

  /** Valid until the next call. */
  at(ordinal: number): Uint8Array {
    const digits = digitCount(ordinal);
    let bytes = this.#byDigits[digits];
    if (bytes === undefined) {
      // The ordinal is the last header, so that its digits are the array's end.
      const id = this.#idStart;
      const identity = id === undefined ? [] : [['ce_id', Buffer.from(`${id}${ordinal}`)] as const];
      bytes = encodeHeaders([...this.#before, ...identity, ['ordinal', text(String(ordinal))]]);
      this.#byDigits[digits] = bytes;
    }
    putDigits(bytes, { ordinal, digits, end: bytes.length });
    if (this.#idStart !== undefined) putDigits(bytes, { ordinal, digits, end: bytes.length - digits - ordinalHeaderBytes });
    return bytes;
  }
}

/** Of the header `ordinal` before its value: the length of the name, the name, the length of the value. */
const ordinalHeaderBytes = 1 + 'ordinal'.length + 1;

function putDigits(bytes: Uint8Array, what: { readonly ordinal: number; readonly digits: number; readonly end: number }): void {
  let rest = what.ordinal;
  for (let at = what.end - 1; at >= what.end - what.digits; at--) {
    const tenth = Math.floor(rest / 10);
    bytes[at] = 0x30 + (rest - tenth * 10);
    rest = tenth;
  }
}

function text(value: string): Uint8Array {
  return Buffer.from(value, 'latin1');
}
