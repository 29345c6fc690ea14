import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonValue, printJson } from '../../base/bigint-json.ts';

/**
 * The checksum a hint carries over its own members (Delta protocol: JSON checksum): MD5, in hex, of all leaves as sorted `"path"="value"` pairs.
 * A member `checksum` at the top is left out.
 */
export function jsonChecksum(object: JsonObject): string {
  const pairs: string[] = [];
  const visit = (value: JsonValue, path: string): void => {
    if (isList(value)) for (const [index, entry] of value.entries()) visit(entry, path === '' ? String(index) : `${path}+${index}`);
    else if (isJsonObject(value)) {
      for (const [key, entry] of Object.entries(value)) {
        if (entry === undefined || (path === '' && key === 'checksum')) continue;
        visit(entry, path === '' ? quoted(key) : `${path}+${quoted(key)}`);
      }
    } else pairs.push(`${path}=${typeof value === 'string' ? quoted(value) : printJson(value)}`);
  };
  visit(object, '');
  pairs.sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
  return createHash('md5').update(pairs.join(',')).digest('hex');
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** Percent-encoded but for letters, digits and `-._~`. */
function quoted(text: string): string {
  const encoded = encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  return `"${encoded}"`;
}
