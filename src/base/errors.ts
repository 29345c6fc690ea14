import { shownValue, withoutSecrets } from './redaction.ts';

/**
 * What the receiver of an error should do about it. A new kind needs a new reaction; else it is a new code.
 *
 * - `invalid`: the input is wrong; correct it.
 * - `not-found`: the named thing is absent.
 * - `unsupported`: a feature this version does not have; the message names it.
 * - `conflict`: somebody else was first; rebase or give up.
 * - `unavailable`: a remote part did not answer; retry later.
 * - `unknown-outcome`: the effect may or may not have happened; verify, delete nothing.
 * - `corrupt`: stored bytes contradict their format; never retried.
 * - `fenced`: a newer instance took over; stop.
 * - `discontinuity`: stored progress does not fit the source; an operator decides.
 * - `aborted`: the caller cancelled.
 * - `internal`: our own mistake.
 */
export type ErrorKind =
  | 'invalid'
  | 'not-found'
  | 'unsupported'
  | 'conflict'
  | 'unavailable'
  | 'unknown-outcome'
  | 'corrupt'
  | 'fenced'
  | 'discontinuity'
  | 'aborted'
  | 'internal';

export type ErrorContext = Readonly<Record<string, string | number | bigint | boolean | undefined>>;

export interface ServiceErrorOptions {
  /** Stable upper-case identifier, documented in docs/reference/errors.md. */
  readonly code: string;
  readonly kind: ErrorKind;
  /** Lower case, no full stop, what and with which values. */
  readonly message: string;
  /** Whether the same call may succeed later. Defaults to true for `unavailable` only. */
  readonly retryable?: boolean | undefined;
  /** What the person reading this can do. */
  readonly hint?: string | undefined;
  readonly context?: ErrorContext | undefined;
  readonly cause?: unknown;
}

/**
 * The only error class thrown by Tidewater. The caller branches on `kind`, people look up `code`. Its texts hold no secrets, whatever address
 * or setting they were made of: errors end in logs, status pages and answers.
 */
export class ServiceError extends Error {
  readonly code: string;
  readonly kind: ErrorKind;
  readonly retryable: boolean;
  readonly hint: string | undefined;
  readonly context: ErrorContext;

  constructor(options: ServiceErrorOptions) {
    super(withoutSecrets(options.message), options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ServiceError';
    this.code = options.code;
    this.kind = options.kind;
    this.retryable = options.retryable ?? options.kind === 'unavailable';
    this.hint = options.hint === undefined ? undefined : withoutSecrets(options.hint);
    this.context = shownContext(options.context ?? {});
  }
}

/** True for a `ServiceError`, optionally of one of the given kinds. */
export function isServiceError(error: unknown, ...kinds: readonly ErrorKind[]): error is ServiceError {
  return error instanceof ServiceError && (kinds.length === 0 || kinds.includes(error.kind));
}

/** One line for a log or a status page: code, message, and the innermost cause's message. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return withoutSecrets(String(error));
  const head = error instanceof ServiceError ? `${error.code}: ${error.message}` : withoutSecrets(error.message);
  return error.cause instanceof Error ? `${head} (caused by ${describeError(error.cause)})` : head;
}

/** For a status page: why a part is not running, and the cure. */
export function describeFailure(error: unknown): string {
  const hint = isServiceError(error) && error.hint !== undefined ? `; ${error.hint}` : '';
  return describeError(error) + hint;
}

/** Makes an error of one kind: its code, what happened, and what else there is to say. */
type Maker = (code: string, message: string, more?: Pick<ServiceErrorOptions, 'retryable' | 'hint' | 'context' | 'cause'>) => ServiceError;

type CamelCase<Text extends string> = Text extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<Tail>}` : Text;

/** Errors by their kind. */
export const serviceError: Readonly<Record<CamelCase<ErrorKind>, Maker>> = {
  invalid: makerOf('invalid'),
  notFound: makerOf('not-found'),
  unsupported: makerOf('unsupported'),
  conflict: makerOf('conflict'),
  unavailable: makerOf('unavailable'),
  unknownOutcome: makerOf('unknown-outcome'),
  corrupt: makerOf('corrupt'),
  fenced: makerOf('fenced'),
  discontinuity: makerOf('discontinuity'),
  aborted: makerOf('aborted'),
  internal: makerOf('internal'),
};

function makerOf(kind: ErrorKind): Maker {
  return (code, message, more) => new ServiceError({ ...more, code, kind, message });
}

function shownContext(context: ErrorContext): ErrorContext {
  return Object.fromEntries(
    Object.entries(context).map(([name, value]) => [name, typeof value === 'string' ? shownValue(name, value) : value]),
  );
}
