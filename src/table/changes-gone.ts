import { isServiceError, type ServiceError, serviceError } from '../base/errors.ts';
import type { Version } from './version.ts';

/** The codes by which a table says that what a feed needs is no longer (or was never) there. */
const gapCodes = ['CDF_GAP', 'CDF_NOT_ENABLED', 'FEED_TABLE_PUT_BACK', 'TABLE_VERSION_NOT_FOUND'] as const;

/** True for an error that only the feed's gap policy can answer. */
export function isGap(error: unknown): error is ServiceError {
  return isServiceError(error) && gapCodes.some((code) => code === error.code);
}

/** The changes of a version cannot be read any more. */
export function changesGone(
  table: string,
  version: Version,
  what: string,
  more: { readonly cause?: unknown; readonly hint?: string } = {},
): ServiceError {
  return serviceError.notFound('CDF_GAP', `table "${table}": the changes of version ${version} are not available: ${what}`, {
    hint:
      more.hint ??
      'choose how the feed goes on: "onGap: resnapshot" publishes the current rows again, "onGap: skip" goes on with the oldest readable version, "onGap: fail" waits for what is missing to be restored',
    context: { version },
    cause: more.cause,
  });
}
