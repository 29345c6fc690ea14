import { isServiceError } from '../../base/errors.ts';
import type { SqlConnection } from './sql-connection.ts';

/** `V1` tells tables from views by `iceberg_type`; in `V0` every row is a table. */
export type LayoutVersion = 'V0' | 'V1';

export interface SqlLayoutOptions {
  /** Makes the tables where they are missing. */
  readonly createTables: boolean;
  /** Adds what a catalog of the older version lacks; by itself a catalog stays as it is. */
  readonly upgrade: boolean;
}

// As Java's JdbcCatalog and pyiceberg's SqlCatalog make them.
const createTableRows = `CREATE TABLE IF NOT EXISTS iceberg_tables(
  catalog_name VARCHAR(255) NOT NULL,
  table_namespace VARCHAR(255) NOT NULL,
  table_name VARCHAR(255) NOT NULL,
  metadata_location VARCHAR(1000),
  previous_metadata_location VARCHAR(1000),
  iceberg_type VARCHAR(5),
  PRIMARY KEY (catalog_name, table_namespace, table_name))`;
const createNamespaceRows = `CREATE TABLE IF NOT EXISTS iceberg_namespace_properties(
  catalog_name VARCHAR(255) NOT NULL,
  namespace VARCHAR(255) NOT NULL,
  property_key VARCHAR(255),
  property_value VARCHAR(1000),
  PRIMARY KEY (catalog_name, namespace, property_key))`;

/**
 * Sees to the two tables of a catalog: finds out which layout they have, makes them when they are missing.
 *
 * @throws ServiceError as `SqlConnection`; `SQL_CATALOG_REFUSED` when they are missing and must not or cannot be made.
 */
export async function prepareLayout(connection: SqlConnection, options: SqlLayoutOptions, signal?: AbortSignal): Promise<LayoutVersion> {
  const found = await detect(connection, signal);
  if (found === 'V0' && options.upgrade) {
    await unlessDone(connection, 'ALTER TABLE iceberg_tables ADD COLUMN iceberg_type VARCHAR(5)', signal);
    return 'V1';
  }
  if (found === undefined && options.createTables) {
    await unlessDone(connection, createTableRows, signal);
    await unlessDone(connection, createNamespaceRows, signal);
  }
  if (found !== undefined) return found;
  await connection.query('SELECT catalog_name FROM iceberg_tables WHERE 1 = 0', [], signal);
  return (await detect(connection, signal)) ?? 'V0';
}

async function detect(connection: SqlConnection, signal: AbortSignal | undefined): Promise<LayoutVersion | undefined> {
  if (!(await works(connection, 'SELECT property_key FROM iceberg_namespace_properties WHERE 1 = 0', signal))) return undefined;
  if (await works(connection, 'SELECT iceberg_type FROM iceberg_tables WHERE 1 = 0', signal)) return 'V1';
  return (await works(connection, 'SELECT table_name FROM iceberg_tables WHERE 1 = 0', signal)) ? 'V0' : undefined;
}

async function works(connection: SqlConnection, statement: string, signal: AbortSignal | undefined): Promise<boolean> {
  try {
    await connection.query(statement, [], signal);
    return true;
  } catch (error) {
    if (isServiceError(error, 'invalid')) return false;
    throw error;
  }
}

/** Of two that do it at once one is refused although it is done. */
async function unlessDone(connection: SqlConnection, statement: string, signal: AbortSignal | undefined): Promise<void> {
  try {
    await connection.execute(statement, [], signal);
  } catch (error) {
    const refused = isServiceError(error, 'invalid', 'conflict');
    if (!refused || (await detect(connection, signal)) === undefined) throw error;
  }
}
