import { throwIfAborted } from './abort.ts';
import { type JsonValue, parseJson } from './bigint-json.ts';
import { isServiceError, type ServiceError } from './errors.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE' | 'HEAD';
  readonly url: string;
  /** For messages: method and path, without parameters. */
  readonly shown: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Whether it changes something: then it is not given up once it is sent, and a lost answer is an unknown outcome. */
  readonly writes: boolean;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** `undefined`: none, or none in JSON. */
  readonly body: JsonValue | undefined;
}

/** Sends one request. Default: the system's. */
export type SendHttp = (url: string, init: RequestInit) => Promise<Response>;

/** The errors of a kind of server. */
export interface HttpFailures {
  /** No answer, and nothing was changed. */
  unavailable(detail: string, cause: unknown): ServiceError;
  /** No answer to a request that changes something and was sent. */
  outcomeUnknown(detail: string, cause: unknown): ServiceError;
  /** An answer that is not what the protocol says; `shown` is the request's. */
  invalidAnswer(shown: string, problem: string): ServiceError;
}

export interface ExchangeOptions {
  readonly failures: HttpFailures;
  readonly signal: AbortSignal | undefined;
  /** Default 512 MiB. */
  readonly maxAnswerBytes?: number | undefined;
  /** How long the answer, to its end, may take. Default: a minute. */
  readonly timeoutMs?: number | undefined;
}

const defaultTimeoutMs = 60_000;
const defaultMaxAnswerBytes = 512 * 1024 * 1024;
const firstRedirect = 300;
const notModified = 304;
const firstClientError = 400;
/** Failures of which it is certain that no request was sent. */
const unsent =
  /^(ECONNREFUSED|ENOTFOUND|EAI_|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_TLS|CERT_|DEPTH_ZERO|UNABLE_TO|SELF_SIGNED|ERR_INVALID_URL)/;

/**
 * One request and its answer, whatever the status. Redirects are not followed: credentials go to the address they are meant for.
 *
 * @throws ServiceError those of `failures`, `ABORTED`.
 */
export async function exchange(send: SendHttp, request: HttpRequest, options: ExchangeOptions): Promise<HttpAnswer> {
  const { failures, signal, maxAnswerBytes = defaultMaxAnswerBytes, timeoutMs = defaultTimeoutMs } = options;
  throwIfAborted(signal);
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await send(request.url, {
      method: request.method,
      headers: request.headers,
      redirect: 'manual',
      signal: request.writes || signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
      ...(request.body === undefined ? {} : { body: request.body }),
    });
    const text = await textOf(response, maxAnswerBytes);
    if (text === undefined) throw failures.invalidAnswer(request.shown, `is larger than ${maxAnswerBytes} bytes`);
    if (response.status >= firstRedirect && response.status < firstClientError && response.status !== notModified) {
      throw failures.invalidAnswer(request.shown, `is a redirect (${response.status})`);
    }
    return {
      status: response.status,
      headers: response.headers,
      body: jsonOf(text, () => (response.ok ? failures.invalidAnswer(request.shown, 'is not JSON') : undefined)),
    };
  } catch (error) {
    if (!request.writes) throwIfAborted(signal);
    if (isServiceError(error)) throw error.kind === 'corrupt' && request.writes ? failures.outcomeUnknown(request.shown, error) : error;
    const detail = `${request.shown}: ${detailOf(error, timeoutMs)}`;
    throw request.writes && !unsent.test(codeOf(error)) ? failures.outcomeUnknown(detail, error) : failures.unavailable(detail, error);
  }
}

/** `undefined`: there is more of it. */
async function textOf(response: Response, maxBytes: number): Promise<string | undefined> {
  if (response.body === null) return '';
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    const bytes: unknown = chunk;
    if (!(bytes instanceof Uint8Array)) continue;
    size += bytes.byteLength;
    if (size > maxBytes) return undefined;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function jsonOf(text: string, refusal: () => ServiceError | undefined): JsonValue | undefined {
  if (text.trim() === '') return undefined;
  try {
    return parseJson(text, 'the answer');
  } catch {
    const refused = refusal();
    if (refused !== undefined) throw refused;
    return undefined;
  }
}

/** `fetch` hides what happened in causes of causes. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return codeOf(error.cause);
}

function detailOf(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `no answer in ${timeoutMs} ms`;
  return error.cause instanceof Error ? detailOf(error.cause, timeoutMs) : error.message || codeOf(error);
}
