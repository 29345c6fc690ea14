import { isJsonObject, type JsonObject, type JsonValue } from '../base/bigint-json.ts';
import type { SendHttp } from '../base/http-exchange.ts';
import type { RegisteredSchema, SchemaKey, SchemaText } from '../protocol/payload-encoding.ts';
import { RecentSchemas } from './recent-schemas.ts';
import { registryFailures, schemaUnknown } from './registry-errors.ts';
import { RegistryRequests } from './registry-requests.ts';
import { textOf, typeOf } from './schema-answer.ts';
import type { RegistrySettings } from './settings.ts';

const maxReferences = 1_000;

/** The schemas of a registry with Confluent's API (Confluent, Apicurio, Karapace): each is asked for once. */
export class SchemaRegistry {
  readonly #settings: RegistrySettings;
  readonly #requests: RegistryRequests;
  readonly #schemas = new RecentSchemas();

  /** `send`: default `fetch`. */
  constructor(settings: RegistrySettings, send: SendHttp = (url, init): Promise<Response> => fetch(url, init)) {
    this.#settings = settings;
    this.#requests = new RegistryRequests(settings, send);
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
    const shown = this.#requests.shown('GET', path);
    const found = await this.#requests.get(path, signal);
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
      const found = await this.#requests.get(inner, signal);
      if (found === undefined) throw schemaUnknown(`${subject}, version ${version}`);
      // Taken before its own references: one that leads back here ends.
      collected.set(name, '');
      await this.#collect(found, this.#requests.shown('GET', inner), collected, signal);
      collected.delete(name);
      collected.set(name, textOf(found, this.#requests.shown('GET', inner)));
    }
  }
}

function referencesOf(found: JsonObject): readonly JsonValue[] {
  const references = found['references'];
  return Array.isArray(references) ? (references as readonly JsonValue[]) : [];
}
