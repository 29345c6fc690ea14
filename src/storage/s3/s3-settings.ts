import { type ServiceError, serviceError } from '../../base/errors.ts';
import { Secret } from '../../base/secret.ts';
import type { StorageProperties } from '../../base/storage-settings.ts';

export type { StorageProperties } from '../../base/storage-settings.ts';

/** How a bucket is reached. */
export interface S3Settings {
  /** URL of the server. Default: that of AWS in the region. */
  readonly endpoint: string | undefined;
  /** Default: what the environment or the profile says. */
  readonly region: string | undefined;
  /** The bucket stands in the path of a request, not in the host name. */
  readonly pathStyle: boolean;
  /** Default: the chain of the environment (variables, profile, web identity, container, instance). */
  readonly credentials: S3Credentials | undefined;
  /** Longest wait for an answer; transfers get more by their size. */
  readonly requestTimeoutMs: number;
  /** Most connections to the server at once. */
  readonly maxConnections: number;
  /** A checksum goes with every upload, which the server checks. */
  readonly checksums: boolean;
}

export interface S3Credentials {
  readonly accessKeyId: Secret;
  readonly secretAccessKey: Secret;
  readonly sessionToken: Secret | undefined;
}

const defaultRequestTimeoutMs = 30_000;
const maxRequestTimeoutMs = 600_000;
const defaultMaxConnections = 64;
const maxMaxConnections = 4_096;
/** What servers other than AWS's take, when nothing says which they want. */
const defaultRegion = 'us-east-1';

/** Every setting with the names it is known by: ours and Iceberg's first, then Hadoop's. */
const names = {
  endpoint: ['s3.endpoint', 'fs.s3a.endpoint'],
  region: ['s3.region', 'client.region', 'fs.s3a.endpoint.region'],
  pathStyle: ['s3.path-style-access', 'fs.s3a.path.style.access'],
  accessKeyId: ['s3.access-key-id', 'fs.s3a.access.key'],
  secretAccessKey: ['s3.secret-access-key', 'fs.s3a.secret.key'],
  sessionToken: ['s3.session-token', 'fs.s3a.session.token'],
  /** As Iceberg's catalogs say it; who sets credentials of their own does not. */
  credentialsEndMs: ['s3.session-token-expires-at-ms'],
  requestTimeoutMs: ['s3.request-timeout-ms'],
  maxConnections: ['s3.max-connections', 'fs.s3a.connection.maximum'],
  checksums: ['s3.checksum-enabled'],
  tls: ['fs.s3a.connection.ssl.enabled'],
} as const;

const credentialNames: readonly string[] = [
  ...names.accessKeyId,
  ...names.secretAccessKey,
  ...names.sessionToken,
  ...names.credentialsEndMs,
];

/**
 * Reads the settings; properties that are none of an object store's are passed over.
 *
 * @throws ServiceError `STORAGE_SETTINGS_INVALID` (kind invalid) naming the property.
 */
export function s3Settings(properties: StorageProperties): S3Settings {
  const endpoint = endpointOf(properties);
  return {
    endpoint,
    region: find(properties, names.region)?.value ?? (endpoint === undefined ? undefined : defaultRegion),
    pathStyle: switchOf(properties, names.pathStyle) ?? endpoint !== undefined,
    credentials: credentialsOf(properties),
    requestTimeoutMs: numberOf(properties, names.requestTimeoutMs, maxRequestTimeoutMs) ?? defaultRequestTimeoutMs,
    maxConnections: numberOf(properties, names.maxConnections, maxMaxConnections) ?? defaultMaxConnections,
    checksums: switchOf(properties, names.checksums) ?? true,
  };
}

/**
 * Properties with others on top. Credentials are replaced as one: an access key never goes with another's session token. The same setting under
 * another name is replaced too.
 */
export function mergedProperties(base: StorageProperties, over: StorageProperties): StorageProperties {
  const replaced = new Set<string>(Object.keys(over));
  for (const known of Object.values(names)) {
    if (known.some((name) => name in over)) for (const name of known) replaced.add(name);
  }
  if (credentialNames.some((name) => name in over)) for (const name of credentialNames) replaced.add(name);
  return { ...Object.fromEntries(Object.entries(base).filter(([name]) => !replaced.has(name))), ...over };
}

export function holdsCredentials(properties: StorageProperties): boolean {
  return find(properties, names.accessKeyId) !== undefined;
}

export function withoutCredentials(properties: StorageProperties): StorageProperties {
  return Object.fromEntries(Object.entries(properties).filter(([name]) => !credentialNames.includes(name)));
}

/** When the credentials end, as milliseconds since the epoch; `undefined`: nobody has said. */
export function credentialsEndMs(properties: StorageProperties): number | undefined {
  const value = find(properties, names.credentialsEndMs)?.value ?? '';
  return /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}

/** What the environment says of the server. Credentials are left to the client's own chain, which renews them. */
export function environmentProperties(environment: Readonly<Record<string, string | undefined>>): StorageProperties {
  const found = {
    's3.endpoint': environment['AWS_ENDPOINT_URL_S3'] ?? environment['AWS_ENDPOINT_URL'],
    's3.region': environment['AWS_REGION'] ?? environment['AWS_DEFAULT_REGION'],
    's3.path-style-access': environment['TIDEWATER_S3_PATH_STYLE_ACCESS'],
    's3.request-timeout-ms': environment['TIDEWATER_S3_REQUEST_TIMEOUT_MS'],
    's3.max-connections': environment['TIDEWATER_S3_MAX_CONNECTIONS'],
    's3.checksum-enabled': environment['TIDEWATER_S3_CHECKSUM_ENABLED'],
  };
  return Object.fromEntries(Object.entries(found).flatMap(([name, value]) => (value === undefined || value === '' ? [] : [[name, value]])));
}

interface Found {
  readonly name: string;
  readonly value: string;
}

function find(properties: StorageProperties, known: readonly string[]): Found | undefined {
  for (const name of known) {
    const value = properties[name]?.trim();
    if (value !== undefined && value !== '') return { name, value };
  }
  return undefined;
}

function endpointOf(properties: StorageProperties): string | undefined {
  const found = find(properties, names.endpoint);
  if (found === undefined) return undefined;
  const plain = switchOf(properties, names.tls) === false ? 'http' : 'https';
  const url = /^https?:\/\//i.test(found.value) ? found.value : `${plain}://${found.value}`;
  if (!URL.canParse(url)) throw invalid(found, 'the URL of a server, such as https://s3.example.com', found.value);
  const { username, password, href } = new URL(url);
  // Not shown: it may hold a password.
  if (username !== '' || password !== '') throw invalid(found, 'a URL without credentials', '***');
  return href.replace(/\/+$/, '');
}

function credentialsOf(properties: StorageProperties): S3Credentials | undefined {
  const key = find(properties, names.accessKeyId);
  const secret = find(properties, names.secretAccessKey);
  if (key === undefined && secret === undefined) return undefined;
  if (key === undefined) throw missing(names.accessKeyId[0], secret?.name ?? '');
  if (secret === undefined) throw missing(names.secretAccessKey[0], key.name);
  const token = find(properties, names.sessionToken);
  return {
    accessKeyId: new Secret(key.value),
    secretAccessKey: new Secret(secret.value),
    sessionToken: token === undefined ? undefined : new Secret(token.value),
  };
}

function switchOf(properties: StorageProperties, known: readonly string[]): boolean | undefined {
  const found = find(properties, known);
  if (found === undefined) return undefined;
  if (/^true$/i.test(found.value)) return true;
  if (/^false$/i.test(found.value)) return false;
  throw invalid(found, 'true or false', found.value);
}

function numberOf(properties: StorageProperties, known: readonly string[], max: number): number | undefined {
  const found = find(properties, known);
  if (found === undefined) return undefined;
  const value = /^\d{1,9}$/.test(found.value) ? Number(found.value) : 0;
  if (value < 1 || value > max) throw invalid(found, `a whole number from 1 to ${max}`, found.value);
  return value;
}

function invalid(found: Found, expected: string, shown: string): ServiceError {
  return serviceError.invalid('STORAGE_SETTINGS_INVALID', `"${shown}" of ${found.name} is not ${expected}`, {
    hint: `set ${found.name} to ${expected}`,
  });
}

function missing(name: string, given: string): ServiceError {
  return serviceError.invalid('STORAGE_SETTINGS_INVALID', `${given} is set without ${name}`, {
    hint: `set ${name} too, or neither: credentials come from the environment then`,
  });
}
