import { isServiceError } from '../base/errors.ts';

/** Exit codes, the same for every command. */
export const exitCodes = {
  ok: 0,
  failure: 1,
  usage: 2,
  conflict: 3,
  /** Stored data contradicts itself or the source: a person has to look. */
  dataProblem: 4,
  /** What was asked for is not there yet. */
  notYet: 5,
} as const;

/** Codes of errors that say the command line or the configuration is wrong. */
const usageCode = /^(CONFIG|COLUMN_TYPE|DURATION|BYTE_SIZE|USAGE)_/;

/** The exit code an error ends the process with. */
export function exitCodeOf(error: unknown): number {
  if (!isServiceError(error)) return exitCodes.failure;
  switch (error.kind) {
    case 'invalid':
      return usageCode.test(error.code) ? exitCodes.usage : exitCodes.failure;
    case 'conflict':
    case 'fenced':
      return exitCodes.conflict;
    case 'corrupt':
    case 'discontinuity':
      return exitCodes.dataProblem;
    case 'not-found':
    case 'unsupported':
    case 'unavailable':
    case 'unknown-outcome':
    case 'aborted':
    case 'internal':
      return exitCodes.failure;
  }
}
