import { isJsonObject, type JsonObject, type JsonValue } from '../base/bigint-json.ts';
import { exchange, type SendHttp } from '../base/http-exchange.ts';
import type { RegisteredSchema, SchemaKey, SchemaText } from '../protocol/payload-encoding.ts';
import { RecentSchemas } from './recent-schemas.ts';
import { registryFailures, registryRefused, schemaUnknown } from './registry-errors.ts';
import type { RegistryAuth, RegistrySettings } from './settings.ts';

const maxAnswerBytes = 16 * 1024 * 1024;
const statusNotFound = 404;
const firstClientError = 400;
const maxReferences = 1_000;

/** The schemas of a registry with Confluent's API (Confluent, Apicurio, Karapace): each is asked for once. */
export class SchemaRegistry {
  readonly #settings: RegistrySettings;
  readonly #send: SendHttp;
  readonly #schemas = new RecentSchemas();

  /** `send`: default `fetch`. */
  constructor(settings: RegistrySettings, send: SendHttp = (url, init): Promise<Response> => fetch(url, init)) {
    this.#settings = settings;
    this.#send = send;
  }

  /**
   * The schema of a key. One that the registry does not have comes without text when records that name such a schema are rejected.
   *
   * @throws ServiceError `SCHEMA_UNKNOWN`, `REGISTRY_UNAVAILABLE`, `REGISTRY_UNAUTHORIZED`, `REGISTRY_ANSWER_INVALID` (all unavailable: to be tried
   *   again), `ABORTED`.
   */
  async schema(key: SchemaKey, signal?: AbortSignal): Promise<RegisteredSchema> {
    const known = this.#schemas.get(key);
    const asked = known ?? this.#ask(key, signal);
    if (known === undefined) this.#schemas.keep(key, asked);
    try {
      const schema = await asked;
      if (schema !== undefined) {
        this.#schemas.answered(key, asked, schema);
        return { key, schema };
      }
    } catch (error) {
      this.#schemas.forget(key, asked);
      throw error;
    }
    // What was not there may be there the next time.
    this.#schemas.forget(key, asked);
    if (this.#settings.onUnknownSchema === 'wait') throw schemaUnknown(key);
    return { key, schema: undefined };
  }

  async #ask(key: SchemaKey, signal: AbortSignal | undefined): Promise<SchemaText | undefined> {
    const path = `/schemas/${key}`;
    const shown = this.#shown(path);
    const found = await this.#get(path, signal);
    if (found === undefined) return undefined;
    const references = new Map<string, string>();
    await this.#collect(found, shown, references, signal);
    return { type: typeOf(found, shown), text: textOf(found, shown), references: [...references].map(([name, text]) => ({ name, text })) };
  }

  /** What a schema names, with all that is named there, the innermost first. */
  async #collect(of: JsonObject, shown: string, collected: Map<string, string>, signal: AbortSignal | undefined): Promise<void> {
    for (const reference of referencesOf(of)) {
      const { name, subject, version } = isJsonObject(reference) ? reference : {};
      if (typeof name !== 'string' || typeof subject !== 'string' || typeof version !== 'number')
        throw registryFailures.invalidAnswer(shown, 'has a reference without name, subject or version');
      if (collected.has(name)) continue;
      if (collected.size >= maxReferences) throw registryFailures.invalidAnswer(shown, `has more than ${maxReferences} references`);
      const inner = `/subjects/${encodeURIComponent(subject)}/versions/${version}`;
      const found = await this.#get(inner, signal);
      if (found === undefined) throw schemaUnknown(`${subject}, version ${version}`);
      // Taken before its own references: one that leads back here ends.
      collected.set(name, '');
      await this.#collect(found, this.#shown(inner), collected, signal);
      collected.delete(name);
      collected.set(name, textOf(found, this.#shown(inner)));
    }
  }

  /** The request as messages name it: the address has no credentials in it. */
  #shown(path: string): string {
    return `GET ${this.#settings.url}${path}`;
  }

  /** `undefined`: there is no such thing. */
  async #get(path: string, signal: AbortSignal | undefined): Promise<JsonObject | undefined> {
    const { url, auth } = this.#settings;
    const shown = this.#shown(path);
    const headers = { accept: 'application/vnd.schemaregistry.v1+json, application/json', ...authorization(auth) };
    const request = { method: 'GET', url: `${url}${path}`, shown, headers, writes: false } as const;
    const { status, body } = await exchange(this.#send, request, { failures: registryFailures, signal, maxAnswerBytes });
    if (status === statusNotFound && isRegistryError(body)) return undefined;
    if (status >= firstClientError) throw registryRefused(shown, status, messageOf(body));
    if (!isJsonObject(body)) throw registryFailures.invalidAnswer(shown, 'is no object');
    return body;
  }
}

function authorization(auth: RegistryAuth | undefined): Readonly<Record<string, string>> {
  switch (auth?.kind) {
    case 'basic':
      return { authorization: `Basic ${Buffer.from(`${auth.username}:${auth.password.reveal()}`).toString('base64')}` };
    case 'bearer':
      return { authorization: `Bearer ${auth.token.reveal()}` };
    default:
      return {};
  }
}

/** A 404 of the registry itself; one without its error code comes from something else at the address. */
function isRegistryError(body: JsonValue | undefined): boolean {
  return isJsonObject(body) && typeof body['error_code'] === 'number';
}

function messageOf(body: JsonValue | undefined): string {
  const message = isJsonObject(body) ? body['message'] : undefined;
  return typeof message === 'string' ? message.slice(0, 500) : 'no message';
}

function typeOf(found: JsonObject, shown: string): SchemaText['type'] {
  // Absent in the API's first versions, which knew nothing else.
  const type = found['schemaType'] ?? 'AVRO';
  if (type === 'AVRO' || type === 'JSON' || type === 'PROTOBUF') return type;
  throw registryFailures.invalidAnswer(shown, 'has a schemaType that is none of AVRO, JSON, PROTOBUF');
}

function textOf(found: JsonObject, shown: string): string {
  const text = found['schema'];
  if (typeof text !== 'string') throw registryFailures.invalidAnswer(shown, 'has no schema');
  return text;
}

function referencesOf(found: JsonObject): readonly JsonValue[] {
  const references = found['references'];
  return Array.isArray(references) ? (references as readonly JsonValue[]) : [];
}
