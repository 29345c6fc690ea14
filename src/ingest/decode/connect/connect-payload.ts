import { parseJson } from '../../../base/bigint-json.ts';
import { isServiceError } from '../../../base/errors.ts';
import type { PassReason } from '../../../protocol/sealed-batch.ts';
import { sameBytes } from '../bytes.ts';
import { LETTER_N, OPEN_BRACE } from '../json/json-bytes.ts';
import type { JsonCursor } from '../json/json-cursor.ts';
import type { JsonRoot } from '../json/json-payload.ts';
import { type ConnectSchema, parseConnectSchema } from './connect-schema.ts';

/** Makes what reads payloads of a schema; without one, payloads as they stand. */
export type RootOfSchema = (schema: ConnectSchema | undefined) => JsonRoot;

/** The text of a schema, and what reads its payloads; a text says why none can. */
interface KnownSchema {
  readonly text: Uint8Array;
  readonly root: JsonRoot | string;
}

/** Schemas that follow each other in a topic, or in those of one route; one that was dropped is parsed again. */
const maxSchemas = 16;
const maxSchemaBytes = 1_000_000;
const notOfConnect = 'the payload is not the {"schema", "payload"} of Kafka Connect’s JSON converter';

/**
 * What Kafka Connect's JSON converter writes: `{"schema": …, "payload": …}`. The schema stands before every payload; one that was seen is known
 * by its bytes and not parsed again.
 */
export class ConnectJson implements JsonRoot {
  noRow: PassReason | undefined;
  readonly #rootOf: RootOfSchema;
  /** The one used last first. */
  readonly #known: KnownSchema[] = [];

  constructor(rootOf: RootOfSchema) {
    this.#rootOf = rootOf;
  }

  read(cursor: JsonCursor): boolean {
    this.noRow = undefined;
    const from = cursor.pos;
    if (!cursor.enter()) return false;
    let root: JsonRoot | string | undefined;
    let payloadAt = -1;
    let isRead = false;
    for (let isFirst = true; ; isFirst = false) {
      const step = cursor.toMember(isFirst);
      if (step === 0) break;
      if (step < 0 || !cursor.scanMemberName()) return false;
      const name = nameAt(cursor);
      cursor.peek();
      if (name === 'schema' && root === undefined) {
        root = this.#schemaAt(cursor);
        if (root === undefined) return false;
      } else if (name === 'payload' && payloadAt < 0) {
        payloadAt = cursor.pos;
        isRead = root !== undefined;
        if (!(isRead ? this.#readPayload(cursor, root) : cursor.skipValue())) return false;
      } else return cursor.fail('wrong-type', notOfConnect, from, from);
    }
    if (root === undefined || payloadAt < 0) return cursor.fail('wrong-type', notOfConnect, from, from);
    const { pos } = cursor;
    if (!isRead) {
      cursor.pos = payloadAt;
      if (!this.#readPayload(cursor, root)) return false;
      cursor.pos = pos;
    }
    cursor.leave();
    return true;
  }

  #readPayload(cursor: JsonCursor, root: JsonRoot | string | undefined): boolean {
    if (root === undefined || typeof root === 'string') return cursor.fail('unknown-schema', root ?? '', cursor.pos, cursor.pos);
    const byte = cursor.peek();
    if (byte === LETTER_N) return cursor.fail('null-value', 'the payload is null', cursor.pos, cursor.pos);
    const from = cursor.pos;
    if (byte !== OPEN_BRACE) return cursor.skipValue() && cursor.fail('not-an-object', 'is not a JSON object', from, cursor.pos);
    const read = root.read(cursor);
    this.noRow = root.noRow;
    return read;
  }

  /** Consumes the schema at the cursor; what reads its payloads. `undefined`: the cursor says why not. */
  #schemaAt(cursor: JsonCursor): JsonRoot | string | undefined {
    const { bytes, end } = cursor;
    const from = cursor.pos;
    for (const [index, known] of this.#known.entries()) {
      const { length } = known.text;
      if (from + length > end || !sameBytes(bytes, from, known.text, 0, length)) continue;
      cursor.pos = from + length;
      if (index > 0) this.#known.unshift(...this.#known.splice(index, 1));
      return known.root;
    }
    if (!cursor.skipValue()) return undefined;
    const text = bytes.slice(from, cursor.pos);
    if (this.#known.length >= maxSchemas) this.#known.pop();
    const root = this.#make(text);
    this.#known.unshift({ text, root });
    return root;
  }

  #make(text: Uint8Array): JsonRoot | string {
    if (text.length > maxSchemaBytes) return `the schema before the payload has ${text.length} bytes, more than ${maxSchemaBytes}`;
    try {
      const json = parseJson(new TextDecoder().decode(text), 'the schema before the payload');
      const schema = json === null ? undefined : parseConnectSchema(json);
      return typeof schema === 'string' ? `the schema before the payload ${schema}` : this.#rootOf(schema);
    } catch (error) {
      if (!isServiceError(error)) throw error;
      return error.message;
    }
  }
}

function nameAt({ text, textStart, textEnd }: JsonCursor): string {
  return Buffer.from(text.buffer, text.byteOffset + textStart, Math.min(textEnd - textStart, 16)).toString('latin1');
}
