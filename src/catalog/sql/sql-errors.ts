import { type ErrorKind, ServiceError } from '../../base/errors.ts';

export type SqlFailure = 'unavailable' | 'unknown' | 'conflict' | 'duplicate' | 'refused';

interface Failure {
  readonly code: string;
  readonly kind: ErrorKind;
  /** Before and after the name of the database. */
  readonly said: readonly [before: string, after: string];
  readonly hint?: string;
}

const failures: Readonly<Record<SqlFailure, Failure>> = {
  unavailable: {
    code: 'SQL_CATALOG_UNAVAILABLE',
    kind: 'unavailable',
    said: ['', 'is not available'],
    hint: 'check that the database runs, and the address and credentials in the catalog settings',
  },
  unknown: {
    code: 'SQL_CATALOG_OUTCOME_UNKNOWN',
    kind: 'unknown-outcome',
    said: ['the connection to ', 'was lost before it answered'],
    hint: 'the change may have been made: look before repeating it, and delete no file of it',
  },
  conflict: { code: 'SQL_CATALOG_CONFLICT', kind: 'conflict', said: ['', 'undid a change that another one was in the way of'] },
  duplicate: { code: 'SQL_CATALOG_DUPLICATE', kind: 'conflict', said: ['', 'has the row already'] },
  refused: {
    code: 'SQL_CATALOG_REFUSED',
    kind: 'invalid',
    said: ['', 'refuses a statement'],
    hint: 'check that the user may read and write the tables iceberg_tables and iceberg_namespace_properties',
  },
};

/** An error of a catalog's database, for whoever reads it. `detail` must not hold credentials. */
export function sqlError(failure: SqlFailure, shown: string, detail: string, cause?: unknown): ServiceError {
  const {
    said: [before, after],
    ...known
  } = failures[failure];
  return new ServiceError({ ...known, message: `${before}catalog database ${shown} ${after}: ${detail}`, cause });
}
