import { isJsonObject, type JsonObject, type JsonValue, printJson } from '../../base/bigint-json.ts';
import type { Clock, EpochMs } from '../../base/clock.ts';
import { exchange, type HttpAnswer, type HttpRequest, type SendHttp } from '../../base/http-exchange.ts';
import type { IdSource } from '../../base/ids.ts';
import { RestAuthorization } from './rest-authorization.ts';
import { failureIn, invalidAnswer, restError, restFailures, unsupportedRequest } from './rest-errors.ts';
import type { RestSettings } from './rest-settings.ts';

export interface RestClientParts {
  readonly settings: RestSettings;
  readonly clock: Clock;
  readonly ids: IdSource;
  /** Default: `fetch`. */
  readonly send?: SendHttp | undefined;
}

/** What the server says about itself. */
export interface RestConfig {
  /** Settings that stand in for those the user has not given. */
  readonly defaults: Readonly<Record<string, string>>;
  /** Settings in place of the user's. */
  readonly overrides: Readonly<Record<string, string>>;
  /** `undefined`: the server does not tell what it has. */
  readonly endpoints: ReadonlySet<string> | undefined;
  /** Part of the paths between version and resource, with its slash; may be empty. */
  readonly prefix: string;
  /** Stands between the levels of namespaces in paths, where the levels are encoded and this is as it is. */
  readonly encodedSeparator: string;
  /** Stands between the levels of namespaces in parameters. */
  readonly namespaceSeparator: string;
  /** Whether requests that change something may be repeated under one key. */
  readonly takesIdempotencyKeys: boolean;
}

export interface RestRequest {
  readonly method: HttpRequest['method'];
  /** As the specification has it, to be compared with the server's list: `/v1/{prefix}/namespaces`. */
  readonly endpoint: string;
  /** What stands for `{namespace}`, `{table}` and `{view}`. */
  readonly names?: { readonly namespace?: readonly string[]; readonly table?: string; readonly view?: string } | undefined;
  readonly query?: Readonly<Record<string, string | undefined>> | undefined;
  readonly body?: JsonObject | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly writes?: boolean | undefined;
  /** Statuses of failures that are answered, not thrown. */
  readonly expected?: readonly number[] | undefined;
  /** Of a list: an answer without a body is an empty one. Default: it is none of the protocol's. */
  readonly mayLackBody?: boolean | undefined;
}

const firstClientError = 400;
const unauthorized: readonly number[] = [401, 419];
const maxPages = 10_000;
const viewsKey = 'view-endpoints-supported';
/** U+001F, the unit separator. */
const defaultSeparator = '%1F';

/**
 * Requests of an Iceberg REST catalog (https://iceberg.apache.org/rest-catalog-spec). Asks for the server's configuration before the first
 * one. A request that is not accepted for its token is repeated once with another; nothing else is repeated.
 *
 * Errors: see `restError` and `exchange`.
 */
export class RestClient {
  readonly #parts: RestClientParts;
  readonly #send: SendHttp;
  readonly #authorization: RestAuthorization;
  #config: Promise<RestConfig> | undefined;

  constructor(parts: RestClientParts) {
    this.#parts = parts;
    this.#send = parts.send ?? ((url, init): Promise<Response> => fetch(url, init));
    this.#authorization = new RestAuthorization(parts.settings.auth, { send: this.#send, clock: parts.clock });
  }

  get clock(): Clock {
    return this.#parts.clock;
  }

  /** Whether the user wants storage credentials to be asked for again when they end. */
  get renewsCredentials(): boolean {
    return this.#parts.settings.renewsCredentials;
  }

  async config(): Promise<RestConfig> {
    this.#config ??= this.#fetchConfig();
    try {
      return await this.#config;
    } catch (error) {
      this.#config = undefined;
      throw error;
    }
  }

  /** Whether the server has an endpoint; true when it does not tell. */
  async has(method: HttpRequest['method'], endpoint: string): Promise<boolean> {
    return (await this.config()).endpoints?.has(`${method} ${endpoint}`) ?? true;
  }

  /** As `has`, for views: a server that does not tell has them where it, or the user, says so (`view-endpoints-supported`). */
  async hasViews(method: HttpRequest['method'], endpoint: string): Promise<boolean> {
    const { endpoints, overrides, defaults } = await this.config();
    if (endpoints !== undefined) return endpoints.has(`${method} ${endpoint}`);
    return (overrides[viewsKey] ?? this.#parts.settings.viewEndpoints ?? defaults[viewsKey]) === 'true';
  }

  async request(request: RestRequest, signal?: AbortSignal): Promise<HttpAnswer> {
    const config = await this.config();
    if (!(await this.has(request.method, request.endpoint))) throw unsupportedRequest(`${request.method} ${request.endpoint}`);
    const path = pathOf(request, config);
    const writes = request.writes ?? false;
    const key: Record<string, string> =
      writes && config.takesIdempotencyKeys ? { 'Idempotency-Key': timeOrderedId(this.#parts.clock.now(), this.#parts.ids.uuid()) } : {};
    return await this.#authorized(path, { ...request, writes, headers: { ...key, ...request.headers } }, signal);
  }

  /** The items of a list that comes in pages. */
  async list(request: Omit<RestRequest, 'method'>, member: string, signal?: AbortSignal): Promise<readonly JsonValue[] | undefined> {
    const { pageSize } = this.#parts.settings;
    const items: JsonValue[] = [];
    let pageToken: string | undefined = pageSize === undefined ? undefined : '';
    for (let page = 0; page < maxPages; page += 1) {
      const query = { ...request.query, pageToken, pageSize: pageSize?.toString() };
      const { status, body } = await this.request({ ...request, method: 'GET', query }, signal);
      if (status >= firstClientError) return undefined;
      if (body === undefined && request.mayLackBody === true) return items;
      const found = isJsonObject(body) ? body[member] : undefined;
      const next = isJsonObject(body) ? body['next-page-token'] : undefined;
      if (!Array.isArray(found)) throw invalidAnswer(`GET ${request.endpoint}`, `has no ${member}`);
      items.push(...(found as readonly JsonValue[]));
      if (typeof next !== 'string' || next === '') return items;
      pageToken = next;
    }
    throw invalidAnswer(`GET ${request.endpoint}`, `has more than ${maxPages} pages`);
  }

  async #fetchConfig(): Promise<RestConfig> {
    const { settings } = this.#parts;
    const { body } = await this.#authorized(
      '/v1/config',
      { method: 'GET', endpoint: '/v1/config', query: { warehouse: settings.warehouse } },
      undefined,
    );
    if (!isJsonObject(body)) throw invalidAnswer('GET /v1/config', 'is no object');
    const [defaults, overrides, endpoints] = [textMap(body['defaults']), textMap(body['overrides']), body['endpoints']];
    const prefix = overrides['prefix'] ?? settings.prefix ?? defaults['prefix'] ?? '';
    const encodedSeparator = overrides['namespace-separator'] ?? defaults['namespace-separator'] ?? defaultSeparator;
    return {
      defaults,
      overrides,
      endpoints: Array.isArray(endpoints) && endpoints.length > 0 ? new Set(endpoints.map(String)) : undefined,
      prefix: prefix === '' ? '' : `${prefix.split('/').map(encodeURIComponent).join('/')}/`,
      encodedSeparator,
      namespaceSeparator: decodeURIComponent(encodedSeparator),
      takesIdempotencyKeys: typeof body['idempotency-key-lifetime'] === 'string',
    };
  }

  async #authorized(path: string, request: RestRequest, signal: AbortSignal | undefined): Promise<HttpAnswer> {
    const first = await this.#sendOnce(path, request, signal);
    const again = unauthorized.includes(first.status) && this.#authorization.renew();
    const answer = again ? await this.#sendOnce(path, request, signal) : first;
    const { status, body } = answer;
    if (status < firstClientError || request.expected?.includes(status) === true) return answer;
    throw restError(failureIn(status, body), { shown: `${request.method} ${path}`, writes: request.writes ?? false });
  }

  async #sendOnce(path: string, request: RestRequest, signal: AbortSignal | undefined): Promise<HttpAnswer> {
    const { settings } = this.#parts;
    const authorization = await this.#authorization.header();
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(request.query ?? {})) if (value !== undefined) query.set(name, value);
    const headers: Record<string, string> = { Accept: 'application/json', ...settings.headers, ...request.headers };
    if (authorization !== undefined) headers['Authorization'] = authorization;
    if (request.body !== undefined) headers['Content-Type'] = 'application/json';
    return await exchange(
      this.#send,
      {
        method: request.method,
        url: `${settings.uri}${path}${query.size === 0 ? '' : `?${query.toString()}`}`,
        shown: `${request.method} ${path}`,
        headers,
        body: request.body === undefined ? undefined : printJson(request.body),
        writes: request.writes ?? false,
      },
      { failures: restFailures, signal },
    );
  }
}

/** The members of an object that are text. */
export function textMap(value: JsonValue | undefined): Readonly<Record<string, string>> {
  if (!isJsonObject(value)) return {};
  return Object.fromEntries(Object.entries(value).flatMap(([key, entry]) => (typeof entry === 'string' ? [[key, entry] as const] : [])));
}

function pathOf(request: RestRequest, config: RestConfig): string {
  const namespace = request.names?.namespace?.map(encodeURIComponent).join(config.encodedSeparator) ?? '';
  return request.endpoint
    .replace('{prefix}/', () => config.prefix)
    .replace('{namespace}', () => namespace)
    .replace('{table}', () => encodeURIComponent(request.names?.table ?? ''))
    .replace('{view}', () => encodeURIComponent(request.names?.view ?? ''));
}

const timeDigits = 12;

/** RFC 9562 version 7 UUID: the time, and the randomness of a version 4 one. */
function timeOrderedId(now: EpochMs, randomId: string): string {
  const time = now.toString(16).padStart(timeDigits, '0').slice(-timeDigits);
  const digits = `${time}7${randomId.replaceAll('-', '').slice(timeDigits + 1)}`;
  return [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)].join('-');
}

/** The endpoint of one table. */
export const tableEndpoint: string = '/v1/{prefix}/namespaces/{namespace}/tables/{table}';
