/** Codes of log errors that mean: the history of that version is gone. */
export const historyGone: ReadonlySet<string> = new Set([
  'DELTA_VERSION_NOT_FOUND',
  'DELTA_VERSIONS_NOT_CONTIGUOUS',
  'DELTA_TRUNCATED_TRANSACTION_LOG',
  'STORAGE_NOT_FOUND',
]);
