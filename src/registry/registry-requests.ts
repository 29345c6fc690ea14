import { isJsonObject, type JsonObject, type JsonValue, printJson } from '../base/bigint-json.ts';
import { exchange, type HttpAnswer, type SendHttp } from '../base/http-exchange.ts';
import { registryFailures, registryRefused } from './registry-errors.ts';
import type { RegistryAuth, RegistrySettings } from './settings.ts';

const maxAnswerBytes = 16 * 1024 * 1024;
/** A registry answers from memory: one that takes longer is told as silent, and asked again. */
const timeoutMs = 15_000;
const statusNotFound = 404;
const firstClientError = 400;
const contentType = 'application/vnd.schemaregistry.v1+json';

type Method = 'GET' | 'POST';

/** Requests to a registry, with credentials, and its answers. */
export class RegistryRequests {
  readonly #settings: RegistrySettings;
  readonly #send: SendHttp;

  constructor(settings: RegistrySettings, send: SendHttp) {
    this.#settings = settings;
    this.#send = send;
  }

  /** The request as messages name it: the address has no credentials in it. */
  shown(method: Method, path: string): string {
    return `${method} ${this.#settings.url}${path}`;
  }

  /**
   * `undefined`: there is no such thing.
   *
   * @throws ServiceError `REGISTRY_UNAVAILABLE`, `REGISTRY_UNAUTHORIZED`, `REGISTRY_ANSWER_INVALID` (all unavailable), `ABORTED`.
   */
  async get(path: string, signal: AbortSignal | undefined): Promise<JsonObject | undefined> {
    return this.#found(this.shown('GET', path), await this.#ask('GET', path, { signal }));
  }

  /** `refused`: the statuses that `refusal` makes an answer of. As `get`; a request that was sent may be sent again. */
  async post<T>(
    path: string,
    body: JsonObject,
    options: { readonly refusal: (status: number, message: string) => T | undefined; readonly signal: AbortSignal | undefined },
  ): Promise<JsonObject | T | undefined> {
    const answer = await this.#ask('POST', path, { signal: options.signal, body });
    const refusal = answer.status < firstClientError ? undefined : options.refusal(answer.status, messageOf(answer.body));
    return refusal ?? this.#found(this.shown('POST', path), answer);
  }

  #ask(method: Method, path: string, more: { readonly signal: AbortSignal | undefined; readonly body?: JsonObject }): Promise<HttpAnswer> {
    const { url, auth } = this.#settings;
    const headers = { accept: `${contentType}, application/json`, ...(more.body === undefined ? {} : { 'content-type': contentType }) };
    const request = {
      method,
      url: `${url}${path}`,
      shown: this.shown(method, path),
      headers: { ...headers, ...authorization(auth) },
      // Whatever is asked twice has the same answer.
      writes: false,
      ...(more.body === undefined ? {} : { body: printJson(more.body) }),
    } as const;
    return exchange(this.#send, request, { failures: registryFailures, signal: more.signal, maxAnswerBytes, timeoutMs });
  }

  #found(shown: string, { status, body }: HttpAnswer): JsonObject | undefined {
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
