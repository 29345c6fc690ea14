import { throwIfAborted } from '../../base/abort.ts';
import { type JsonValue, parseJson } from '../../base/bigint-json.ts';
import { isServiceError } from '../../base/errors.ts';
import { invalidAnswer, outcomeUnknown, unavailable } from './rest-errors.ts';

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

const requestTimeoutMs = 60_000;
const maxAnswerBytes = 512 * 1024 * 1024;
const firstRedirect = 300;
const notModified = 304;
const firstClientError = 400;
/** Failures of which it is certain that no request was sent. */
const unsent =
  /^(ECONNREFUSED|ENOTFOUND|EAI_|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_TLS|CERT_|DEPTH_ZERO|UNABLE_TO|SELF_SIGNED|ERR_INVALID_URL)/;

/**
 * One request and its answer, whatever the status. Redirects are not followed: credentials go to the address they are meant for.
 *
 * @throws ServiceError `REST_CATALOG_UNAVAILABLE`, `REST_CATALOG_OUTCOME_UNKNOWN`, `REST_CATALOG_ANSWER_INVALID`, `ABORTED`.
 */
export async function exchange(send: SendHttp, request: HttpRequest, signal: AbortSignal | undefined): Promise<HttpAnswer> {
  throwIfAborted(signal);
  const timeout = AbortSignal.timeout(requestTimeoutMs);
  try {
    const response = await send(request.url, {
      method: request.method,
      headers: request.headers,
      redirect: 'manual',
      signal: request.writes || signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
      ...(request.body === undefined ? {} : { body: request.body }),
    });
    const text = await textOf(response, request.shown);
    if (response.status >= firstRedirect && response.status < firstClientError && response.status !== notModified) {
      throw invalidAnswer(request.shown, `is a redirect (${response.status})`);
    }
    return { status: response.status, headers: response.headers, body: jsonOf(text, response.ok, request.shown) };
  } catch (error) {
    if (!request.writes) throwIfAborted(signal);
    if (isServiceError(error)) throw error.kind === 'corrupt' && request.writes ? outcomeUnknown(request.shown, error) : error;
    const detail = `${request.shown}: ${detailOf(error)}`;
    throw request.writes && !unsent.test(codeOf(error)) ? outcomeUnknown(detail, error) : unavailable(detail, error);
  }
}

async function textOf(response: Response, shown: string): Promise<string> {
  if (response.body === null) return '';
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    const bytes: unknown = chunk;
    if (!(bytes instanceof Uint8Array)) continue;
    size += bytes.byteLength;
    if (size > maxAnswerBytes) throw invalidAnswer(shown, `is larger than ${maxAnswerBytes} bytes`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function jsonOf(text: string, mustBe: boolean, shown: string): JsonValue | undefined {
  if (text.trim() === '') return undefined;
  try {
    return parseJson(text, shown);
  } catch {
    if (mustBe) throw invalidAnswer(shown, 'is not JSON');
    return undefined;
  }
}

/** `fetch` hides what happened in causes of causes. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return codeOf(error.cause);
}

function detailOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `no answer in ${requestTimeoutMs} ms`;
  return error.cause instanceof Error ? detailOf(error.cause) : error.message || codeOf(error);
}
