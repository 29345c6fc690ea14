import { throwIfAborted } from '../../base/abort.ts';
import type { AnalysisException } from '../../base/analysis-exception.ts';
import { isServiceError } from '../../base/errors.ts';
import { unsupportedFeature } from '../../base/unsupported-feature.ts';
import type { TableIdent } from '../../table/table-ident.ts';
import type { SqlConnection, SqlValue } from './sql-connection.ts';
import { type LayoutVersion, prepareLayout, type SqlLayoutOptions } from './sql-layout.ts';

const levelSeparator = '.';
const oneTable = 'catalog_name = ? AND table_namespace = ? AND table_name = ?';
const onlyOfKind: Readonly<Record<RowKind, string>> = {
  TABLE: " AND (iceberg_type = 'TABLE' OR iceberg_type IS NULL)",
  VIEW: " AND iceberg_type = 'VIEW'",
};
/** That a namespace without other properties is there. */
const existsProperty = 'exists';

/** What a row is of, in the column `iceberg_type`. */
export type RowKind = 'TABLE' | 'VIEW';

export interface TableRow {
  readonly metadataLocation: string | undefined;
  readonly previousMetadataLocation: string | undefined;
}

/**
 * The rows of one catalog in the tables that several programs share (https://iceberg.apache.org/docs/latest/jdbc/): those of its tables, or of
 * its views. Errors as `SqlConnection`; `UNSUPPORTED_FEATURE` for views where the layout cannot tell them from tables.
 */
export class SqlTableRows {
  readonly #connection: SqlConnection;
  readonly #catalog: string;
  readonly #layoutOptions: SqlLayoutOptions;
  readonly #kind: RowKind;
  #layout: Promise<LayoutVersion> | undefined;

  constructor(connection: SqlConnection, catalog: string, layoutOptions: SqlLayoutOptions, kind: RowKind = 'TABLE') {
    this.#connection = connection;
    this.#kind = kind;
    this.#catalog = catalog;
    this.#layoutOptions = layoutOptions;
  }

  /** Whether the layout tells tables from views. */
  async keepsViews(signal?: AbortSignal): Promise<boolean> {
    return (await this.#version(signal)) === 'V1';
  }

  async find(ident: TableIdent, signal?: AbortSignal): Promise<TableRow | undefined> {
    const where = `${oneTable}${await this.#typeFilter(signal)}`;
    const statement = `SELECT metadata_location, previous_metadata_location FROM iceberg_tables WHERE ${where}`;
    const [row] = await this.#connection.query(statement, this.#key(ident), signal);
    if (row === undefined) return undefined;
    return { metadataLocation: row['metadata_location'], previousMetadataLocation: row['previous_metadata_location'] };
  }

  /** False: there is a table (or a view) of that name. */
  async insert(ident: TableIdent, metadataLocation: string, signal?: AbortSignal): Promise<boolean> {
    const typed = (await this.#typeFilter(signal)) !== '';
    const columns = 'catalog_name, table_namespace, table_name, metadata_location, previous_metadata_location';
    const statement = typed
      ? `INSERT INTO iceberg_tables (${columns}, iceberg_type) VALUES (?, ?, ?, ?, NULL, '${this.#kind}')`
      : `INSERT INTO iceberg_tables (${columns}) VALUES (?, ?, ?, ?, NULL)`;
    return await this.#unlessThere(statement, [...this.#key(ident), metadataLocation], signal);
  }

  /** False: the row is not what it was, or gone. */
  async replace(ident: TableIdent, by: { readonly from: string; readonly to: string }, signal?: AbortSignal): Promise<boolean> {
    const where = `${oneTable} AND metadata_location = ?${await this.#typeFilter(signal)}`;
    const statement = `UPDATE iceberg_tables SET metadata_location = ?, previous_metadata_location = ? WHERE ${where}`;
    return (await this.#connection.execute(statement, [by.to, by.from, ...this.#key(ident), by.from], signal)) === 1;
  }

  async rename(from: TableIdent, to: TableIdent, signal?: AbortSignal): Promise<'renamed' | 'absent' | 'exists'> {
    const where = `${oneTable}${await this.#typeFilter(signal)}`;
    const statement = `UPDATE iceberg_tables SET table_namespace = ?, table_name = ? WHERE ${where}`;
    try {
      const changed = await this.#connection.execute(statement, [joined(to.namespace), to.name, ...this.#key(from)], signal);
      return changed === 1 ? 'renamed' : 'absent';
    } catch (error) {
      if (isServiceError(error, 'conflict') && error.code === 'SQL_CATALOG_DUPLICATE') return 'exists';
      throw error;
    }
  }

  async remove(ident: TableIdent, signal?: AbortSignal): Promise<boolean> {
    const where = `${oneTable}${await this.#typeFilter(signal)}`;
    return (await this.#connection.execute(`DELETE FROM iceberg_tables WHERE ${where}`, this.#key(ident), signal)) > 0;
  }

  async tables(namespace: readonly string[], signal?: AbortSignal): Promise<readonly string[]> {
    const statement = `SELECT table_name FROM iceberg_tables WHERE catalog_name = ? AND table_namespace = ?${await this.#typeFilter(signal)}`;
    const rows = await this.#connection.query(statement, [this.#catalog, joined(namespace)], signal);
    return rows.map((row) => row['table_name'] ?? '');
  }

  /** All that have properties or tables, and those they are in. */
  async namespaces(signal?: AbortSignal): Promise<readonly (readonly string[])[]> {
    await this.#version(signal);
    const rows = await this.#connection.query(
      'SELECT DISTINCT namespace AS name FROM iceberg_namespace_properties WHERE catalog_name = ? UNION SELECT DISTINCT table_namespace AS name FROM iceberg_tables WHERE catalog_name = ?',
      [this.#catalog, this.#catalog],
      signal,
    );
    const found = new Map<string, readonly string[]>();
    for (const row of rows) {
      const levels = (row['name'] ?? '').split(levelSeparator).filter((level) => level !== '');
      for (let depth = 1; depth <= levels.length; depth += 1)
        found.set(levels.slice(0, depth).join(levelSeparator), levels.slice(0, depth));
    }
    return [...found.values()];
  }

  async hasNamespace(namespace: readonly string[], signal?: AbortSignal): Promise<boolean> {
    await this.#version(signal);
    const name = joined(namespace);
    const below = `${likeText(name)}${levelSeparator}%`;
    for (const [table, column] of [
      ['iceberg_namespace_properties', 'namespace'],
      ['iceberg_tables', 'table_namespace'],
    ] as const) {
      const statement = `SELECT ${column} FROM ${table} WHERE catalog_name = ? AND (${column} = ? OR ${column} LIKE ? ESCAPE '!') LIMIT 1`;
      if ((await this.#connection.query(statement, [this.#catalog, name, below], signal)).length > 0) return true;
    }
    return false;
  }

  /** False: it is there. */
  async insertNamespace(namespace: readonly string[], signal?: AbortSignal): Promise<boolean> {
    await this.#version(signal);
    const statement =
      'INSERT INTO iceberg_namespace_properties (catalog_name, namespace, property_key, property_value) VALUES (?, ?, ?, ?)';
    return await this.#unlessThere(statement, [this.#catalog, joined(namespace), existsProperty, 'true'], signal);
  }

  async removeNamespace(namespace: readonly string[], signal?: AbortSignal): Promise<void> {
    await this.#version(signal);
    const statement = 'DELETE FROM iceberg_namespace_properties WHERE catalog_name = ? AND namespace = ?';
    await this.#connection.execute(statement, [this.#catalog, joined(namespace)], signal);
  }

  /** The value of a namespace's property. */
  async namespaceProperty(namespace: readonly string[], key: string, signal?: AbortSignal): Promise<string | undefined> {
    await this.#version(signal);
    const statement =
      'SELECT property_value FROM iceberg_namespace_properties WHERE catalog_name = ? AND namespace = ? AND property_key = ?';
    const [row] = await this.#connection.query(statement, [this.#catalog, joined(namespace), key], signal);
    return row?.['property_value'];
  }

  async #unlessThere(statement: string, values: readonly SqlValue[], signal: AbortSignal | undefined): Promise<boolean> {
    try {
      await this.#connection.execute(statement, values, signal);
      return true;
    } catch (error) {
      if (isServiceError(error, 'conflict') && error.code === 'SQL_CATALOG_DUPLICATE') return false;
      throw error;
    }
  }

  async #typeFilter(signal: AbortSignal | undefined): Promise<string> {
    if ((await this.#version(signal)) === 'V1') return onlyOfKind[this.#kind];
    if (this.#kind === 'VIEW') throw withoutViews(this.#connection.shown);
    return '';
  }

  /** Looked at once; a failure is not remembered. */
  async #version(signal: AbortSignal | undefined): Promise<LayoutVersion> {
    throwIfAborted(signal);
    // Shared by all callers: none of them can cancel it.
    this.#layout ??= prepareLayout(this.#connection, this.#layoutOptions);
    try {
      return await this.#layout;
    } catch (error) {
      this.#layout = undefined;
      throw error;
    }
  }

  #key(ident: TableIdent): readonly SqlValue[] {
    return [this.#catalog, joined(ident.namespace), ident.name];
  }
}

function withoutViews(shown: string): AnalysisException {
  return unsupportedFeature(`views in catalog database ${shown}, whose layout is V0, are not supported`, {
    hint: 'jdbc.schema-version = V1 in the catalog settings adds the column iceberg_type, which tells them from tables',
  });
}

function joined(namespace: readonly string[]): string {
  return namespace.join(levelSeparator);
}

function likeText(text: string): string {
  return text.replaceAll(/[!_%]/g, '!$&');
}
