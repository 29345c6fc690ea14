import { assert } from '../../../base/assert.ts';
import type { PassReason } from '../../../protocol/sealed-batch.ts';
import type { NeedsOfRecords } from '../../evolve/needs-of-records.ts';
import type { PayloadDecoder } from '../payload-decoder.ts';
import { columnName, inColumn, type Refusal, type Rejection, shown } from '../rejection.ts';
import type { SourceRecord } from '../source-record.ts';
import { OPEN_BRACE } from './json-bytes.ts';
import { JsonCursor } from './json-cursor.ts';

/** What reads the object that a payload is. */
export interface JsonRoot {
  /** Why the object read last is no row. */
  readonly noRow?: PassReason | undefined;
  /** Consumes the object at the cursor (its opening brace). False: the cursor says why, and columns may be of unequal length until truncated. */
  read(cursor: JsonCursor): boolean;
}

/** A JSON object (docs/spec/json-decoding.md). */
export class JsonPayload implements PayloadDecoder {
  readonly #root: JsonRoot;
  readonly #cursor: JsonCursor;
  readonly #needs: NeedsOfRecords | undefined;

  /** `needs`: looks at payloads again that their table has no place for. */
  constructor(root: JsonRoot, maxDepth: number, needs?: NeedsOfRecords) {
    this.#root = root;
    this.#cursor = new JsonCursor(maxDepth);
    this.#needs = needs;
  }

  decode(record: SourceRecord, start: number, end: number): Refusal | undefined {
    const refusal = this.#decode(record, start, end);
    if (this.#needs?.isWorthALook(refusal) === true) this.#needs.look(record.data.subarray(start, end));
    return refusal;
  }

  #decode(record: SourceRecord, start: number, end: number): Refusal | undefined {
    const cursor = this.#cursor;
    cursor.load(record.data, start, end);
    const read = cursor.peek() === OPEN_BRACE ? this.#root.read(cursor) : refuseOther(cursor);
    if (read && cursor.peek() < 0) return this.#root.noRow === undefined ? undefined : { noRow: this.#root.noRow };
    if (read) cursor.invalid('the end of the payload');
    const rejection = jsonRejection(cursor, start);
    cursor.failure = undefined;
    cursor.path.length = 0;
    return rejection;
  }
}

// The payload is something else than an object, or no JSON at all.
function refuseOther(cursor: JsonCursor): false {
  const from = cursor.pos;
  if (!cursor.skipValue()) return false;
  return cursor.peek() < 0
    ? cursor.fail('not-an-object', 'is not a JSON object', from, cursor.pos)
    : cursor.invalid('the end of the payload');
}

/** Writes up the failure a reader left on the cursor; `start` is where the payload begins. */
function jsonRejection(cursor: JsonCursor, start: number): Rejection {
  const { failure } = cursor;
  assert(failure !== undefined, 'a refused record must say why');
  const place = inColumn(cursor.path);
  const value = shown(cursor.bytes, failure.from, failure.until);
  const at = `at byte ${failure.from - start}`;
  switch (failure.reason) {
    case 'invalid-json':
      return { reason: failure.reason, message: `${place}not valid JSON ${at}: ${framed(cursor.bytes, start) ?? failure.detail}` };
    case 'invalid-utf8':
      return { reason: failure.reason, message: `${place}the text ${at} ${failure.detail}` };
    case 'too-deep':
      return { reason: failure.reason, message: `${place}${failure.detail} ${at}` };
    case 'unknown-member':
    case 'duplicate-member':
      return { reason: failure.reason, message: `${place}member ${value} ${failure.detail}` };
    default: {
      const message = `${place}${value === '' ? '' : `${value} `}${failure.detail}`;
      return { reason: failure.reason, message, ...(failure.reason === 'missing-required' ? { missing: columnName(cursor.path) } : {}) };
    }
  }
}

const framedFrom = 5;

/** What is seen most often in place of JSON. `undefined`: something else. */
function framed(bytes: Uint8Array, start: number): string | undefined {
  if (bytes[start] !== 0) return undefined;
  const cure = bytes[start + framedFrom] === OPEN_BRACE ? 'schemaId of the route to prefix' : 'format of the route to what follows it';
  return `it begins with the byte 0 and the id of a schema, as serializers with a registry write it; set value.${cure}`;
}
