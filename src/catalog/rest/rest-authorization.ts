import { assertNever } from '../../base/assert.ts';
import { isJsonObject } from '../../base/bigint-json.ts';
import type { Clock } from '../../base/clock.ts';
import { exchange, type SendHttp } from '../../base/http-exchange.ts';
import { Secret } from '../../base/secret.ts';
import { failureIn, invalidAnswer, restError, restFailures } from './rest-errors.ts';
import type { RestAuthSettings } from './rest-settings.ts';

interface Token {
  readonly value: Secret;
  /** By the monotonic clock; `undefined`: for as long as it is accepted. */
  readonly renewAtMs: number | undefined;
}

/** A token is replaced so long before it ends, or at half of its time when that is shorter. */
const renewBeforeMs = 60_000;
const msPerSecond = 1000;
const firstClientError = 400;

/** What the `Authorization` header of requests is. Tokens are fetched when needed and again before they end. */
export class RestAuthorization {
  readonly #settings: RestAuthSettings;
  readonly #send: SendHttp;
  readonly #clock: Clock;
  #token: Promise<Token> | undefined;

  constructor(settings: RestAuthSettings, parts: { readonly send: SendHttp; readonly clock: Clock }) {
    this.#settings = settings;
    this.#send = parts.send;
    this.#clock = parts.clock;
  }

  /** `undefined`: none is sent. @throws ServiceError `REST_CATALOG_UNAUTHORIZED`, `REST_CATALOG_UNAVAILABLE`. */
  async header(): Promise<string | undefined> {
    const settings = this.#settings;
    switch (settings.kind) {
      case 'none':
        return undefined;
      case 'basic':
        return `Basic ${Buffer.from(`${settings.user}:${settings.password.reveal()}`).toString('base64')}`;
      case 'token':
        return `Bearer ${settings.token.reveal()}`;
      case 'client-credentials':
        return `Bearer ${(await this.#currentToken(settings)).value.reveal()}`;
      default:
        return assertNever(settings);
    }
  }

  /** Forgets a token that was not accepted. False: another one cannot be had. */
  renew(): boolean {
    this.#token = undefined;
    return this.#settings.kind === 'client-credentials';
  }

  async #currentToken(settings: Extract<RestAuthSettings, { readonly kind: 'client-credentials' }>): Promise<Token> {
    const asked = this.#token;
    const token = await asked?.catch(() => undefined);
    if (token !== undefined && (token.renewAtMs ?? Number.POSITIVE_INFINITY) > this.#clock.monotonicMs()) return token;
    // Whoever sees the old one first asks for all.
    if (this.#token === asked || this.#token === undefined) this.#token = this.#fetch(settings);
    return await this.#token;
  }

  async #fetch(settings: Extract<RestAuthSettings, { readonly kind: 'client-credentials' }>): Promise<Token> {
    const { clientId, clientSecret, tokenUri, parameters } = settings;
    const form = new URLSearchParams({ grant_type: 'client_credentials', ...parameters });
    if (clientId !== undefined) form.set('client_id', clientId);
    form.set('client_secret', clientSecret.reveal());
    const shown = `POST ${new URL(tokenUri).pathname}`;
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'application/json' };
    const request = { method: 'POST', url: tokenUri, shown, headers, body: form.toString(), writes: false } as const;
    const { status, body } = await exchange(this.#send, request, { failures: restFailures, signal: undefined });
    if (status >= firstClientError) {
      // OAuth has an error model of its own (RFC 6749, 5.2): 400 for credentials that are not accepted.
      const said = isJsonObject(body) ? (body['error_description'] ?? body['error']) : undefined;
      const failure = failureIn(status === firstClientError ? 401 : status, body);
      throw restError(typeof said === 'string' ? { ...failure, message: said } : failure, { shown, writes: false });
    }
    const { access_token: value, expires_in: seconds } = isJsonObject(body) ? body : {};
    if (typeof value !== 'string') throw invalidAnswer(shown, 'has no access_token');
    const lifetimeMs = typeof seconds === 'number' ? seconds * msPerSecond : undefined;
    const usedMs = lifetimeMs === undefined ? undefined : Math.max(lifetimeMs / 2, lifetimeMs - renewBeforeMs);
    return { value: new Secret(value), renewAtMs: usedMs === undefined ? undefined : this.#clock.monotonicMs() + usedMs };
  }
}
