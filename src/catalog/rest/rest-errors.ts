import { isJsonObject, type JsonValue } from '../../base/bigint-json.ts';
import { ServiceError, type ServiceErrorOptions, serviceError } from '../../base/errors.ts';
import type { HttpFailures } from '../../base/http-exchange.ts';

/** What a server said in place of an answer (https://iceberg.apache.org/rest-catalog-spec, `ErrorModel`). */
export interface RestFailure {
  readonly status: number;
  /** The exception's name, such as `NoSuchTableException`; empty when the body is none of the catalog's. */
  readonly type: string;
  readonly message: string;
}

const maxMessageLength = 1000;
const statusTimeout = 408;
const statusTooMany = 429;
const firstServerError = 500;
const statusNotImplemented = 501;

export function failureIn(status: number, body: JsonValue | undefined): RestFailure {
  const error = isJsonObject(body) ? body['error'] : undefined;
  const { type, message } = isJsonObject(error) ? error : {};
  return {
    status,
    type: typeof type === 'string' ? type : '',
    message: (typeof message === 'string' ? message : `status ${status}`).slice(0, maxMessageLength),
  };
}

/** Whether a request that changes something may have changed it although it failed so. */
export function mayHaveHappened(status: number): boolean {
  return (status >= firstServerError && status !== statusNotImplemented) || status === statusTimeout || status === statusTooMany;
}

/** The error for a failure that the caller has no other use for. */
export function restError(failure: RestFailure, request: { readonly shown: string; readonly writes: boolean }): ServiceError {
  const said = `${request.shown}: ${failure.message}${failure.type === '' ? '' : ` (${failure.type})`}`;
  if (mayHaveHappened(failure.status)) {
    return request.writes ? outcomeUnknown(said, undefined) : unavailable(said, undefined);
  }
  if (failure.status === 406 || failure.status === statusNotImplemented) return unsupportedRequest(said);
  const { message, ...known } = refusals[failure.status] ?? refused;
  return new ServiceError({ ...known, message: `the catalog ${message}: ${said}`, context: { status: failure.status } });
}

type Refusal = Pick<ServiceErrorOptions, 'code' | 'kind' | 'message' | 'hint'>;

const unauthorized: Refusal = {
  code: 'REST_CATALOG_UNAUTHORIZED',
  kind: 'invalid',
  message: 'does not accept the credentials',
  hint: 'check credential, scope and oauth2-server-uri, or token, in the catalog settings',
};
const refused: Refusal = {
  code: 'REST_CATALOG_REFUSED',
  kind: 'invalid',
  message: 'refuses a request',
  hint: 'check the uri and warehouse of the catalog settings; the server may also be of another version',
};
/** By status. */
const refusals: Readonly<Record<number, Refusal>> = {
  401: unauthorized,
  419: unauthorized,
  403: {
    code: 'REST_CATALOG_FORBIDDEN',
    kind: 'invalid',
    message: 'forbids it',
    hint: 'give the principal of the catalog settings the right to do this',
  },
  404: { code: 'REST_CATALOG_NOT_FOUND', kind: 'not-found', message: 'has no such thing' },
  409: { code: 'REST_CATALOG_CONFLICT', kind: 'conflict', message: 'has something else' },
};

export function unsupportedRequest(shown: string): ServiceError {
  return serviceError.unsupported('REST_CATALOG_UNSUPPORTED', `the catalog server does not support ${shown}`);
}

/** Nothing was sent, or nothing was to be changed. */
export function unavailable(detail: string, cause: unknown): ServiceError {
  return serviceError.unavailable('REST_CATALOG_UNAVAILABLE', `the catalog server does not answer: ${detail}`, {
    hint: 'check that it runs, and the uri of the catalog settings',
    cause,
  });
}

export function outcomeUnknown(detail: string, cause: unknown): ServiceError {
  return serviceError.unknownOutcome('REST_CATALOG_OUTCOME_UNKNOWN', `the catalog server did not say whether it was done: ${detail}`, {
    hint: 'the change may have been made: look before repeating it, and delete no file of it',
    cause,
  });
}

/** An answer that is not what the protocol says. */
export function invalidAnswer(shown: string, problem: string): ServiceError {
  return serviceError.corrupt('REST_CATALOG_ANSWER_INVALID', `the catalog server's answer to ${shown} ${problem}`, {
    hint: 'check that the uri of the catalog settings is that of an Iceberg REST catalog',
  });
}

export const restFailures: HttpFailures = { unavailable, outcomeUnknown, invalidAnswer };
