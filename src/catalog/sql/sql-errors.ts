import { ServiceError } from '../../base/errors.ts';

export type SqlFailure = 'unavailable' | 'unknown' | 'conflict' | 'duplicate' | 'refused';

/** An error of a catalog's database, for whoever reads it. `detail` must not hold credentials. */
export function sqlError(failure: SqlFailure, shown: string, detail: string, cause?: unknown): ServiceError {
  switch (failure) {
    case 'unavailable':
      return new ServiceError({
        code: 'SQL_CATALOG_UNAVAILABLE',
        kind: 'unavailable',
        message: `catalog database ${shown} is not available: ${detail}`,
        hint: 'check that the database runs, and the address and credentials in the catalog settings',
        cause,
      });
    case 'unknown':
      return new ServiceError({
        code: 'SQL_CATALOG_OUTCOME_UNKNOWN',
        kind: 'unknown-outcome',
        message: `the connection to catalog database ${shown} was lost before it answered: ${detail}`,
        hint: 'the change may have been made: look before repeating it, and delete no file of it',
        cause,
      });
    case 'conflict':
      return new ServiceError({
        code: 'SQL_CATALOG_CONFLICT',
        kind: 'conflict',
        message: `catalog database ${shown} undid a change that another one was in the way of: ${detail}`,
        cause,
      });
    case 'duplicate':
      return new ServiceError({
        code: 'SQL_CATALOG_DUPLICATE',
        kind: 'conflict',
        message: `catalog database ${shown} has the row already: ${detail}`,
        cause,
      });
    case 'refused':
      return new ServiceError({
        code: 'SQL_CATALOG_REFUSED',
        kind: 'invalid',
        message: `catalog database ${shown} refuses a statement: ${detail}`,
        hint: 'check that the user may read and write the tables iceberg_tables and iceberg_namespace_properties',
        cause,
      });
  }
}
