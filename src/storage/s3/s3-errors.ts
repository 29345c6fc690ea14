import { ServiceError } from '../../base/errors.ts';
import { notFound } from '../path.ts';

/** What a request wanted, for its error. */
export interface S3Request {
  /** `read`, `list` …, as the message begins. */
  readonly what: string;
  readonly bucket: string;
  /** The store's root. */
  readonly root: string;
  /** Relative to the root. */
  readonly path: string;
  /** It may have changed something when its answer is lost. */
  readonly changes: boolean;
}

/** A failed request, as far as it can be told from outside. */
export interface S3Failure {
  /** HTTP status, when there was an answer. */
  readonly status: number | undefined;
  /** The server's or the system's word, `NoSuchKey`, `ECONNRESET`. */
  readonly code: string;
  /** The credentials were refused, and others may be handed out. */
  readonly renewable?: boolean | undefined;
}

/** The connection was never made, so nothing was asked for. */
const neverSent: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL']);
const missingCredentials: ReadonlySet<string> = new Set(['CredentialsProviderError', 'ProviderError']);
const wrongCredentials: ReadonlySet<string> = new Set([
  'AccessDenied',
  'ExpiredToken',
  'ExpiredTokenException',
  'InvalidAccessKeyId',
  'InvalidToken',
  'InvalidTokenId',
  'RequestTimeTooSkewed',
  'SignatureDoesNotMatch',
  'TokenRefreshRequired',
]);
/** Of credentials that were good once: they have come to their end, or were taken back. */
const endedCredentials: ReadonlySet<string> = new Set([
  'ExpiredToken',
  'ExpiredTokenException',
  'InvalidAccessKeyId',
  'InvalidToken',
  'InvalidTokenId',
  'TokenRefreshRequired',
]);
/** Answers without a body, as to HEAD, carry no code of the server's: the client makes one up from the status. */
const madeUpCodes = /^(?:UnknownError|Unknown|Forbidden|Unauthorized|BadRequest|\d{3})$/;
const wrongRegion: ReadonlySet<string> = new Set([
  'PermanentRedirect',
  'AuthorizationHeaderMalformed',
  'IllegalLocationConstraintException',
]);
const missingObject: ReadonlySet<string> = new Set(['NoSuchKey', 'NotFound', 'NoSuchVersion']);

/** Status and code of whatever the client threw. */
export function failureOf(error: unknown): S3Failure {
  if (typeof error !== 'object' || error === null) return { status: undefined, code: 'Unknown' };
  const metadata: unknown = '$metadata' in error ? error.$metadata : undefined;
  const answered = typeof metadata === 'object' && metadata !== null && 'httpStatusCode' in metadata ? metadata.httpStatusCode : undefined;
  const status = typeof answered === 'number' ? answered : undefined;
  const system = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const name = error instanceof Error ? error.name : 'Unknown';
  return { status, code: (name === 'Error' || name === 'AggregateError' || name === 'TimeoutError' ? system : undefined) ?? name };
}

/** Whether a request was refused, and so did nothing, for credentials that may have been good before. */
export function credentialsMayHaveEnded({ status, code }: S3Failure): boolean {
  if (endedCredentials.has(code)) return true;
  return (status === 400 || status === 401 || status === 403) && madeUpCodes.test(code);
}

/**
 * What a failed request means to the caller. The vendor's error is not kept as the cause: it carries keys and signatures of the request.
 *
 * `STORAGE_NOT_FOUND`, `STORAGE_BUCKET_NOT_FOUND`, `STORAGE_ACCESS_DENIED`, `STORAGE_REQUEST_REFUSED` (invalid: nothing will change by itself;
 * unavailable for credentials that were handed out, and will be again),
 * `STORAGE_UNAVAILABLE` (nothing was changed), `STORAGE_OUTCOME_UNKNOWN`.
 */
export function s3Error(failure: S3Failure, request: S3Request): ServiceError {
  const { status, code } = failure;
  if (missingCredentials.has(code)) return denied(failure, request, credentialsHint);
  if (status === undefined) return neverSent.has(code) ? unavailable(failure, request) : doubtful(failure, request);
  if (code === 'NoSuchBucket') return noBucket(request);
  // A listing names no object that could be missing: a server that walks folders lost one on the way.
  if (status === 404 && request.what === 'list') return unavailable(failure, request);
  if (status === 404 && !request.changes && (missingObject.has(code) || code === 'UnknownError'))
    return notFound(request.root, request.path);
  if (status === 401 || status === 403 || wrongCredentials.has(code)) return denied(failure, request, deniedHint(code));
  if (status === 501) return unsupported(failure, request);
  if (status >= 500 || status === 408 || code === 'RequestTimeout') return doubtful(failure, request);
  // Too many requests, or something else under way for this key: the server says that it did nothing.
  if (status === 429 || status === 409) return unavailable(failure, request);
  // An answer that was no error but could not be understood.
  if (status < 300) return doubtful(failure, request);
  return refused(failure, request);
}

const credentialsHint =
  'give s3.access-key-id and s3.secret-access-key, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile or a role in the environment';

function deniedHint(code: string): string {
  switch (code) {
    case 'ExpiredToken':
    case 'ExpiredTokenException':
    case 'InvalidToken':
    case 'InvalidTokenId':
    case 'TokenRefreshRequired':
      return 'the session token has expired: get credentials anew';
    case 'RequestTimeTooSkewed':
      return 'set the clock of this computer: it differs too much from the server';
    case 'InvalidAccessKeyId':
    case 'SignatureDoesNotMatch':
      return 'check the access key id and the secret access key, and that they belong to this server';
    default:
      return 'allow the credentials s3:GetObject, s3:PutObject, s3:DeleteObject and s3:ListBucket on the bucket and the prefix';
  }
}

function denied(failure: S3Failure, request: S3Request, hint: string): ServiceError {
  const kind = failure.renewable === true ? 'unavailable' : 'invalid';
  return of('STORAGE_ACCESS_DENIED', kind, failure, request, `bucket "${request.bucket}" does not let us`, hint);
}

function noBucket(request: S3Request): ServiceError {
  return new ServiceError({
    code: 'STORAGE_BUCKET_NOT_FOUND',
    // Not `not-found`: that an object is absent would follow from it, and a table would be taken for not there.
    kind: 'invalid',
    message: `${request.root}: there is no bucket "${request.bucket}"`,
    hint: 'check the name of the bucket, the endpoint and the region, or create the bucket',
  });
}

function refused(failure: S3Failure, request: S3Request): ServiceError {
  const hint = wrongRegion.has(failure.code)
    ? 'set s3.region (or AWS_REGION) to the region of the bucket'
    : 'check s3.endpoint, s3.region and s3.path-style-access: the server refuses such requests';
  return of('STORAGE_REQUEST_REFUSED', 'invalid', failure, request, 'the server refused', hint);
}

function unsupported(failure: S3Failure, request: S3Request): ServiceError {
  return of(
    'STORAGE_REQUEST_UNSUPPORTED',
    'unsupported',
    failure,
    request,
    'the server cannot do that',
    'use an object store that honours If-None-Match: * on PUT',
  );
}

function unavailable(failure: S3Failure, request: S3Request): ServiceError {
  return of('STORAGE_UNAVAILABLE', 'unavailable', failure, request, 'the server did not do it', undefined);
}

/** No answer, or one of a server in trouble: a change may have been made. */
function doubtful(failure: S3Failure, request: S3Request): ServiceError {
  if (!request.changes) return of('STORAGE_UNAVAILABLE', 'unavailable', failure, request, 'no answer', undefined);
  return of('STORAGE_OUTCOME_UNKNOWN', 'unknown-outcome', failure, request, 'it may or may not have been done', undefined);
}

function of(
  code: string,
  kind: ServiceError['kind'],
  failure: S3Failure,
  request: S3Request,
  reason: string,
  hint: string | undefined,
): ServiceError {
  const status = failure.status === undefined ? '' : `${failure.status} `;
  return new ServiceError({
    code,
    kind,
    message: `${request.root}: ${request.what} "${request.path}": ${reason} (${status}${failure.code})`,
    hint,
    context: { status: failure.status, reason: failure.code },
  });
}
