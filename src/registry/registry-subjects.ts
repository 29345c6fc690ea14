import { isJsonObject, type JsonObject } from '../base/bigint-json.ts';
import type { SendHttp } from '../base/http-exchange.ts';
import type { NewSchema, RegisteredAs, SchemaSubjects } from '../protocol/schema-subjects.ts';
import { registryFailures } from './registry-errors.ts';
import { RegistryRequests } from './registry-requests.ts';
import { textOf, typeOf } from './schema-answer.ts';
import type { RegistrySettings } from './settings.ts';

const statusConflict = 409;
const statusUnprocessable = 422;

/** The subjects of a registry with Confluent's API (Confluent, Apicurio, Karapace). */
export class RegistrySubjects implements SchemaSubjects {
  readonly #requests: RegistryRequests;

  /** `send`: default `fetch`. */
  constructor(settings: RegistrySettings, send: SendHttp = (url, init): Promise<Response> => fetch(url, init)) {
    this.#requests = new RegistryRequests(settings, send);
  }

  async register(subject: string, schema: NewSchema, signal?: AbortSignal): Promise<RegisteredAs> {
    const path = `/subjects/${encodeURIComponent(subject)}/versions`;
    const answer = await this.#requests.post(path, bodyOf(schema), { refusal: refused, signal });
    if (isRefused(answer)) return answer;
    return { kind: 'registered', id: this.#numberOf(path, answer) };
  }

  async find(subject: string, schema: NewSchema, signal?: AbortSignal): Promise<number | undefined> {
    const path = `/subjects/${encodeURIComponent(subject)}`;
    const answer = await this.#requests.post(path, bodyOf(schema), { refusal: () => undefined, signal });
    return answer === undefined ? undefined : this.#numberOf(path, answer);
  }

  async latest(subject: string, signal?: AbortSignal): Promise<(NewSchema & { readonly id: number }) | undefined> {
    const path = `/subjects/${encodeURIComponent(subject)}/versions/latest`;
    const found = await this.#requests.get(path, signal);
    if (found === undefined) return undefined;
    const shown = this.#requests.shown('GET', path);
    return { type: typeOf(found, shown), text: textOf(found, shown), id: this.#numberOf(path, found) };
  }

  async refusal(subject: string, schema: NewSchema, signal?: AbortSignal): Promise<string | undefined> {
    const path = `/compatibility/subjects/${encodeURIComponent(subject)}/versions/latest`;
    const answer = await this.#requests.post(`${path}?verbose=true`, bodyOf(schema), { refusal: refused, signal });
    if (answer === undefined) return undefined;
    if (isRefused(answer)) return answer.reason;
    if (answer['is_compatible'] !== false) return undefined;
    const messages: unknown = answer['messages'];
    return Array.isArray(messages) && messages.length > 0 ? messages.map(String).join('; ') : 'the schemas are not compatible';
  }

  #numberOf(path: string, answer: JsonObject | undefined): number {
    const id = answer?.['id'];
    if (typeof id === 'number' && Number.isInteger(id) && id >= 0 && id <= 0xffff_ffff) return id;
    throw registryFailures.invalidAnswer(this.#requests.shown('POST', path), 'has no number of a schema');
  }
}

function bodyOf({ type, text }: NewSchema): JsonObject {
  // The API's first versions know nothing but Avro, and no such member.
  return { schema: text, ...(type === 'AVRO' ? {} : { schemaType: type }) };
}

type Refused = RegisteredAs & { readonly kind: 'refused' };

function refused(status: number, message: string): Refused | undefined {
  return status === statusConflict || status === statusUnprocessable ? { kind: 'refused', reason: message } : undefined;
}

function isRefused(answer: JsonObject | Refused | undefined): answer is Refused {
  return isJsonObject(answer) && answer['kind'] === 'refused' && 'reason' in answer;
}
