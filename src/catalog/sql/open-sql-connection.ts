import { readFileSync } from 'node:fs';
import { AnalysisException } from '../../base/analysis-exception.ts';
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import { Secret } from '../../base/secret.ts';
import { PostgresConnection, type PostgresConnectionOptions } from './postgres-connection.ts';
import type { SqlConnection } from './sql-connection.ts';
import { SqliteConnection } from './sqlite-connection.ts';

export interface SqlConnectionSettings {
  /** `jdbc:sqlite:…`, `sqlite:///…`, `jdbc:postgresql://…`, `postgresql://…`. */
  readonly uri: string;
  /** Default: the URI's. */
  readonly user?: string | undefined;
  readonly password?: Secret | undefined;
}

const defaultPostgresPort = 5432;
const msPerSecond = 1000;
const sqliteParameters = ['busy_timeout', 'timeout'];
const postgresParameters = ['user', 'password', 'ssl', 'sslmode', 'sslrootcert'];

/**
 * The database that a URI names, as Java and Python programs write it. Nothing is opened before the first statement.
 *
 * @throws AnalysisException `CATALOG_CONFIGURATION_INVALID` for a URI of another database or with parameters that would be ignored.
 */
export function openSqlConnection(
  settings: SqlConnectionSettings,
  parts: { readonly clock: Clock; readonly random: Random },
): SqlConnection {
  const { uri } = settings;
  const jdbcSqlite = /^jdbc:sqlite:(.*)$/is.exec(uri)?.[1];
  if (jdbcSqlite !== undefined) return sqlite(uri, jdbcSqlite.replace(/^file:(\/\/(?=\/))?/i, ''), parts);
  // SQLAlchemy: three slashes and a relative path, four and an absolute one.
  const alchemy = /^sqlite(?:\+\w+)?:\/\/(?:\/(.*))?$/is.exec(uri);
  if (alchemy !== null) return sqlite(uri, alchemy[1] ?? '', parts);
  if (/^(jdbc:)?postgres(ql)?(\+\w+)?:\/\//i.test(uri)) return new PostgresConnection(postgresOptions(settings));
  throw invalid(
    `"${uri}" is not the URI of a database this version connects to`,
    'write jdbc:sqlite:file:/dir/catalog.db, sqlite:////dir/catalog.db, jdbc:postgresql://host/database or postgresql://user@host/database',
  );
}

function sqlite(uri: string, rest: string, parts: { readonly clock: Clock; readonly random: Random }): SqlConnection {
  const [path = '', query] = rest.split('?', 2);
  const parameters = new URLSearchParams(query);
  refuseUnknown(uri, parameters, sqliteParameters);
  const [busy, seconds] = [parameters.get('busy_timeout'), parameters.get('timeout')];
  const busyTimeoutMs = busy === null ? (seconds === null ? undefined : Number(seconds) * msPerSecond) : Number(busy);
  if (busyTimeoutMs !== undefined && !(busyTimeoutMs >= 0)) throw invalid(`"${uri}" has a waiting time that is no number`);
  return new SqliteConnection({ path: path === '' ? ':memory:' : path, busyTimeoutMs, ...parts });
}

function postgresOptions(settings: SqlConnectionSettings): PostgresConnectionOptions {
  const url = URL.parse(settings.uri.replace(/^(?:jdbc:)?postgres(?:ql)?(?:\+\w+)?:/i, 'postgresql:'));
  if (url === null || url.hostname === '') {
    throw invalid(`"${settings.uri}" is not a URI`, 'write jdbc:postgresql://host:5432/database');
  }
  const parameters = url.searchParams;
  refuseUnknown(settings.uri, parameters, postgresParameters);
  const user = settings.user ?? parameters.get('user') ?? decodeURIComponent(url.username);
  const password = parameters.get('password') ?? decodeURIComponent(url.password);
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? defaultPostgresPort : Number(url.port),
    database: decodeURIComponent(url.pathname.slice(1)) || user,
    user: user === '' ? undefined : user,
    password: settings.password ?? (password === '' ? undefined : new Secret(password)),
    tls: tlsOf(settings.uri, parameters),
  };
}

/** The meaning of libpq's and JDBC's `sslmode`; those that fall back to plain text are plain text. */
function tlsOf(uri: string, parameters: URLSearchParams): PostgresConnectionOptions['tls'] {
  const mode = parameters.get('sslmode') ?? (parameters.get('ssl') === 'true' ? 'verify-full' : 'prefer');
  switch (mode) {
    case 'disable':
    case 'allow':
    case 'prefer':
      return false;
    case 'require':
      return 'unverified';
    case 'verify-ca':
    case 'verify-full': {
      const file = parameters.get('sslrootcert');
      return { ca: file === null ? undefined : readFileSync(file, 'utf8') };
    }
    default:
      throw invalid(`"${uri}" has sslmode "${mode}"`, 'modes: disable, require, verify-ca, verify-full');
  }
}

function refuseUnknown(uri: string, parameters: URLSearchParams, known: readonly string[]): void {
  const unknown = [...parameters.keys()].find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw invalid(`"${uri}" has the parameter "${unknown}", which this version does not have`, `known: ${known.join(', ')}`);
}

function invalid(message: string, hint?: string): AnalysisException {
  return new AnalysisException({ errorClass: 'CATALOG_CONFIGURATION_INVALID', message, hint });
}
