import { AnalysisException } from '../../base/analysis-exception.ts';
import { Secret } from '../../base/secret.ts';

export interface RestSettings {
  /** Without a slash at the end. */
  readonly uri: string;
  readonly warehouse: string | undefined;
  readonly prefix: string | undefined;
  readonly auth: RestAuthSettings;
  /** Sent with every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Storage credentials that end are asked for again. */
  readonly renewsCredentials: boolean;
  /** Names asked for at once; default: as the server likes. */
  readonly pageSize: number | undefined;
  /** `true`: a server that does not list its endpoints has those of views. */
  readonly viewEndpoints?: string | undefined;
}

export type RestAuthSettings =
  | { readonly kind: 'none' }
  | { readonly kind: 'basic'; readonly user: string; readonly password: Secret }
  | { readonly kind: 'token'; readonly token: Secret }
  | {
      readonly kind: 'client-credentials';
      readonly clientId: string | undefined;
      readonly clientSecret: Secret;
      readonly tokenUri: string;
      /** `scope`, `audience`, `resource`. */
      readonly parameters: Readonly<Record<string, string>>;
    };

const headerPrefix = 'header.';
const defaultScope = 'catalog';
const oauthParameters = ['audience', 'resource'];

/** @throws AnalysisException `CATALOG_CONFIGURATION_INVALID` for settings that contradict each other or are not supported. */
export function restSettings(catalog: string, properties: ReadonlyMap<string, string>): RestSettings {
  const given = properties.get('uri');
  const url = given === undefined ? null : URL.parse(given);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw invalid(`catalog "${catalog}" has no http or https uri`, `set spark.sql.catalog.${catalog}.uri`);
  }
  if (url.username !== '' || url.password !== '') {
    throw invalid(`catalog "${catalog}" has credentials in its uri`, 'set credential or token instead');
  }
  const uri = url.href.replace(/\/+$/, '').replace(/\/v1$/, '');
  const headers: Record<string, string> = { 'X-Iceberg-Access-Delegation': 'vended-credentials' };
  for (const [key, value] of properties) {
    if (!key.startsWith(headerPrefix)) continue;
    const name = key.slice(headerPrefix.length);
    const standing = Object.keys(headers).find((known) => known.toLowerCase() === name.toLowerCase());
    headers[standing ?? name] = value;
  }
  const pageSize = properties.get('rest-page-size');
  if (pageSize !== undefined && !/^[1-9]\d{0,5}$/.test(pageSize)) throw invalid(`rest-page-size "${pageSize}" is not a positive number`);
  return {
    uri,
    warehouse: properties.get('warehouse'),
    prefix: properties.get('prefix'),
    auth: authSettings(catalog, uri, properties),
    headers,
    renewsCredentials: properties.get('client.refresh-credentials-enabled') !== 'false',
    pageSize: pageSize === undefined ? undefined : Number(pageSize),
    viewEndpoints: properties.get('view-endpoints-supported'),
  };
}

function authSettings(catalog: string, uri: string, properties: ReadonlyMap<string, string>): RestAuthSettings {
  const type = properties.get('rest.auth.type') ?? (properties.get('rest.sigv4-enabled') === 'true' ? 'sigv4' : 'oauth2');
  switch (type) {
    case 'none':
      return { kind: 'none' };
    case 'basic': {
      const [user, password] = [properties.get('rest.auth.basic.username'), properties.get('rest.auth.basic.password')];
      if (user === undefined || password === undefined)
        throw invalid(`catalog "${catalog}" has rest.auth.type basic without username and password`);
      return { kind: 'basic', user, password: new Secret(password) };
    }
    case 'oauth2':
      return oauthSettings(uri, properties);
    default:
      throw invalid(`catalog "${catalog}" has rest.auth.type "${type}", which this version does not have`, 'types: none, basic, oauth2');
  }
}

function oauthSettings(uri: string, properties: ReadonlyMap<string, string>): RestAuthSettings {
  const credential = properties.get('credential');
  const token = properties.get('token');
  if (credential === undefined) return token === undefined ? { kind: 'none' } : { kind: 'token', token: new Secret(token) };
  const colon = credential.indexOf(':');
  const parameters = Object.fromEntries(
    oauthParameters.flatMap((name) => {
      const value = properties.get(name);
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
  return {
    kind: 'client-credentials',
    clientId: colon === -1 ? undefined : credential.slice(0, colon),
    clientSecret: new Secret(credential.slice(colon + 1)),
    tokenUri: properties.get('oauth2-server-uri') ?? `${uri}/v1/oauth/tokens`,
    parameters: { scope: properties.get('scope') ?? defaultScope, ...parameters },
  };
}

function invalid(message: string, hint?: string): AnalysisException {
  return new AnalysisException({ errorClass: 'CATALOG_CONFIGURATION_INVALID', message, hint });
}
