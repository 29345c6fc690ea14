import type pg from 'pg';
import { throwIfAborted } from '../../base/abort.ts';
import type { Secret } from '../../base/secret.ts';
import { rowOf } from './row-values.ts';
import type { SqlConnection, SqlRow, SqlValue } from './sql-connection.ts';
import { type SqlFailure, sqlError } from './sql-errors.ts';

export interface PostgresConnectionOptions {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string | undefined;
  readonly password: Secret | undefined;
  /** `false`: no TLS. `unverified`: TLS with any certificate. Otherwise the certificate must be the host's. */
  readonly tls: false | 'unverified' | { readonly ca: string | undefined };
  /** Connections open at once. Default 2. */
  readonly maxConnections?: number | undefined;
}

const defaultMaxConnections = 2;
const connectTimeoutMs = 15_000;
const statementTimeoutMs = 30_000;
/** A server that does not answer at all; longer than it takes to give up a statement. */
const answerTimeoutMs = statementTimeoutMs + 5_000;
const idleTimeoutMs = 60_000;

/** A PostgreSQL database. */
export class PostgresConnection implements SqlConnection {
  readonly dialect = 'postgresql';
  readonly shown: string;
  readonly #options: PostgresConnectionOptions;
  #pool: pg.Pool | undefined;

  constructor(options: PostgresConnectionOptions) {
    this.shown = `postgresql://${options.host}:${options.port}/${options.database}`;
    this.#options = options;
  }

  async query(statement: string, values: readonly SqlValue[], signal?: AbortSignal): Promise<readonly SqlRow[]> {
    const result = await this.#run(statement, values, { writes: false, signal });
    return result.rows.map(rowOf);
  }

  async execute(statement: string, values: readonly SqlValue[], signal?: AbortSignal): Promise<number> {
    return (await this.#run(statement, values, { writes: true, signal })).rowCount ?? 0;
  }

  async close(): Promise<void> {
    const pool = this.#pool;
    this.#pool = undefined;
    await pool?.end();
  }

  async #run(
    statement: string,
    values: readonly SqlValue[],
    options: { readonly writes: boolean; readonly signal: AbortSignal | undefined },
  ): Promise<pg.QueryResult<Record<string, unknown>>> {
    throwIfAborted(options.signal);
    const client = await this.#connect();
    let broken: Error | undefined;
    try {
      throwIfAborted(options.signal);
      // Once sent it is waited for: an answer that nobody waits for would leave the outcome unknown.
      return await client.query<Record<string, unknown>>(numbered(statement), [...values.map((value) => value ?? null)]);
    } catch (error) {
      const failure = failureOf(error, options.writes);
      if (failure === 'unknown' || failure === 'unavailable') broken = error instanceof Error ? error : new Error(String(error));
      throw failure === 'aborted' ? error : sqlError(failure, this.shown, messageOf(error), error);
    } finally {
      client.release(broken);
    }
  }

  async #connect(): Promise<pg.PoolClient> {
    try {
      return await (await this.#openPool()).connect();
    } catch (error) {
      throw sqlError('unavailable', this.shown, messageOf(error), error);
    }
  }

  async #openPool(): Promise<pg.Pool> {
    // Loaded by those who have such a catalog: it is slow to start with.
    const { Pool } = (await import('pg')).default;
    if (this.#pool !== undefined) return this.#pool;
    const { host, port, database, user, password, tls, maxConnections } = this.#options;
    const pool = new Pool({
      host,
      port,
      database,
      user,
      password: password?.reveal(),
      ssl: tls === 'unverified' ? { rejectUnauthorized: false } : tls === false ? false : { ca: tls.ca },
      max: maxConnections ?? defaultMaxConnections,
      connectionTimeoutMillis: connectTimeoutMs,
      statement_timeout: statementTimeoutMs,
      query_timeout: answerTimeoutMs,
      idleTimeoutMillis: idleTimeoutMs,
      // A session that is done ends although connections are idle.
      allowExitOnIdle: true,
      application_name: 'tidewater',
    });
    // A lost connection fails its statement, if there is one, and is replaced; without listeners the process would end.
    pool.on('error', () => undefined);
    pool.on('connect', (client) => client.on('error', () => undefined));
    this.#pool = pool;
    return pool;
  }
}

/** Classes of SQLSTATE: https://www.postgresql.org/docs/current/errcodes-appendix.html */
function failureOf(error: unknown, writes: boolean): SqlFailure | 'aborted' {
  if (error instanceof Error && 'kind' in error && error.kind === 'aborted') return 'aborted';
  const state = stateOf(error);
  if (state === '23505') return 'duplicate';
  // Serialization failure, deadlock: rolled back for another's sake. Lock not available, statement given up: rolled back too.
  if (state.startsWith('40')) return 'conflict';
  if (state === '55P03' || state === '57014') return 'unavailable';
  if (state === '' || /^(08|57P)/.test(state)) return writes ? 'unknown' : 'unavailable';
  return /^(53|58|XX)/.test(state) ? 'unavailable' : 'refused';
}

/** An error of the server; those of the connection have other codes, such as ECONNRESET. */
function stateOf(error: unknown): string {
  const found = error instanceof Error && 'severity' in error && 'code' in error ? error.code : undefined;
  return typeof found === 'string' ? found : '';
}

/** The server's words; details of values and addresses stay in the cause. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}

function numbered(statement: string): string {
  let count = 0;
  return statement.replaceAll('?', () => {
    count += 1;
    return `$${count}`;
  });
}
