import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../base/bigint-json.ts';
import { serviceError } from '../base/errors.ts';
import type { RegisteredSchema } from '../protocol/payload-encoding.ts';
import { AvroValues } from './avro-values.ts';

/** A registry that a consumer asks for schemas: `SchemaRegistry` of this library. */
export interface SchemasById {
  schema(key: string, signal?: AbortSignal): Promise<RegisteredSchema>;
}

const headBytes = 5;

/** Keys and values of records as JSON, whatever their encoding: JSON with and without schemas, and JSON or Avro behind the number of a schema. */
export class Payloads {
  readonly #registry: SchemasById | undefined;
  /** By number: what reads the bytes behind it. */
  readonly #readers = new Map<number, (bytes: Uint8Array) => JsonValue>();

  constructor(registry: SchemasById | undefined) {
    this.#registry = registry;
  }

  /**
   * @throws ServiceError `CONSUMER_REGISTRY_MISSING`, `CONSUMER_PAYLOAD_INVALID` (kind invalid), `CONSUMER_SCHEMA_UNKNOWN` (unsupported), and those of the
   *   registry, which may be tried again.
   */
  async read(bytes: Uint8Array): Promise<JsonObject> {
    const value =
      bytes[0] === 0 && bytes.length >= headBytes ? await this.#framed(bytes) : parseJson(Buffer.from(bytes).toString('utf8'), 'record');
    if (!isJsonObject(value))
      throw serviceError.invalid('CONSUMER_PAYLOAD_INVALID', 'a record of the topic is no object, so it is not of a feed');
    const { schema, payload } = value;
    return isJsonObject(schema) && isJsonObject(payload) && Object.keys(value).length === 2 ? payload : value;
  }

  async #framed(bytes: Uint8Array): Promise<JsonValue> {
    const id = Buffer.from(bytes.buffer, bytes.byteOffset, headBytes).readUInt32BE(1);
    let read = this.#readers.get(id);
    if (read === undefined) {
      read = await this.#readerOf(id);
      this.#readers.set(id, read);
    }
    return read(bytes.subarray(headBytes));
  }

  async #readerOf(id: number): Promise<(bytes: Uint8Array) => JsonValue> {
    if (this.#registry === undefined) {
      throw serviceError.invalid('CONSUMER_REGISTRY_MISSING', `a record names schema ${id} of a registry, and no registry is given`, {
        hint: 'give the consumer the registry of the feed: registry: { url }',
      });
    }
    const { schema } = await this.#registry.schema(`ids/${id}`);
    switch (schema?.type) {
      case 'JSON':
        return (payload) => parseJson(Buffer.from(payload).toString('utf8'), 'record');
      case 'AVRO': {
        const values = new AvroValues(schema.text);
        return (payload) => values.read(payload);
      }
      default:
        throw serviceError.unsupported(
          'CONSUMER_SCHEMA_UNKNOWN',
          `schema ${id} is of type ${schema?.type ?? 'none'}, which this client does not read`,
          {
            hint: 'read the topic of a feed of encoding json, json-schema or avro; for Protobuf use a client of its own',
          },
        );
    }
  }
}
