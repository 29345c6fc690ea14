import { isJsonObject, type JsonObject, type JsonValue } from '../../base/bigint-json.ts';
import { mergedProperties } from '../../storage/s3/s3-settings.ts';
import { type RestConfig, textMap } from './rest-client.ts';

const storageKey = /^(s3|client|gcs|adls|io-impl)(\.|$)/;

/**
 * Settings for a table's files: what the server says of all tables, in its answer for this one, and the credentials it vends for the longest
 * prefix of where the table lies.
 */
export function fileSettingsIn(config: RestConfig, answer: JsonObject, location: string): Readonly<Record<string, string>> {
  const general = { ...storageSettings(config.defaults), ...storageSettings(config.overrides), ...textMap(answer['config']) };
  return mergedProperties(general, vendedFor(answer, location) ?? {});
}

/** Those of a catalog's settings that are about files. */
function storageSettings(settings: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(settings).filter(([key]) => storageKey.test(key)));
}

/** Credentials the server vends for the longest prefix of a location. */
export function vendedFor(body: JsonObject, location: string): Readonly<Record<string, string>> | undefined {
  const credentials = body['storage-credentials'];
  const vended = (Array.isArray(credentials) ? credentials : [])
    .flatMap((entry: JsonValue) => {
      const { prefix, config } = isJsonObject(entry) ? entry : {};
      return typeof prefix === 'string' && location.startsWith(prefix) ? [{ prefix, config: textMap(config) }] : [];
    })
    .toSorted((left, right) => left.prefix.length - right.prefix.length);
  return vended.at(-1)?.config;
}
