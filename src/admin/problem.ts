import { type JsonObject, printJson } from '../base/bigint-json.ts';
import { type ErrorKind, isServiceError } from '../base/errors.ts';
import { shownJson } from '../base/redaction.ts';

/** RFC 9457. */
export const problemContentType = 'application/problem+json';

const statusByKind: Readonly<Record<ErrorKind, number>> = {
  invalid: 400,
  'not-found': 404,
  unsupported: 501,
  conflict: 409,
  unavailable: 503,
  'unknown-outcome': 503,
  corrupt: 500,
  fenced: 409,
  discontinuity: 409,
  aborted: 503,
  internal: 500,
};

/** Where HTTP has a word of its own. */
const statusByCode: Readonly<Record<string, number>> = { ADMIN_HOST_REFUSED: 421 };

export interface Problem {
  readonly status: number;
  readonly body: string;
}

/** An error as a problem document. What is not one of our errors shows no message: it may hold anything. */
export function problemOf(error: unknown): Problem {
  if (isServiceError(error)) {
    const { code, kind, message, hint } = error;
    return makeProblem(statusByCode[code] ?? statusByKind[kind], { title: kind, code, detail: message, hint });
  }
  return makeProblem(statusCodeOf(error) ?? 500, { title: 'internal', code: 'INTERNAL' });
}

export function makeProblem(status: number, members: JsonObject): Problem {
  return { status, body: printJson(shownJson({ type: 'about:blank', status, ...members })) };
}

/** The HTTP server's own refusals (bad request line, too large, not found) carry their status. */
function statusCodeOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('statusCode' in error)) return undefined;
  const { statusCode } = error;
  return typeof statusCode === 'number' && statusCode >= 400 && statusCode <= 599 ? statusCode : undefined;
}
