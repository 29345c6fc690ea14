import { serviceError } from '../base/errors.ts';

/** A stored path as the log spells it: a relative URI reference, percent-encoded once. */
export function encodePath(storedPath: string): string {
  return storedPath
    .split('/')
    .map((segment) => encodeURIComponent(segment).replaceAll('%3D', '='))
    .join('/');
}

/**
 * The object's path for a path of the log: decoded exactly once, and made relative when it is an absolute URI under `root`. A path
 * outside the root stays absolute; the store refuses to open it.
 *
 * @throws ServiceError `DELTA_LOG_CORRUPT` (kind corrupt) when it is not a URI reference.
 */
export function decodePath(path: string, root: string): string {
  if (!path.includes('%') && !path.includes(':') && !path.startsWith('/')) return path;
  const decoded = decoded1(path);
  if (!/^([a-z][a-z0-9+.-]*:|\/)/i.test(path)) return decoded;
  const absolute = canonical(decoded);
  const base = `${canonical(decoded1(root)).replace(/\/+$/, '')}/`;
  return absolute.startsWith(base) ? absolute.slice(base.length) : absolute;
}

/** `file:///x`, `file:/x` and `/x` are one path, and `s3a://b/x` is `s3://b/x`. */
function canonical(uri: string): string {
  return uri.replace(/^file:\/*(?=[^/])/i, '/').replace(/^s3[an]:\/\//i, 's3://');
}

function decoded1(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch (cause) {
    throw serviceError.corrupt('DELTA_LOG_CORRUPT', `path "${path}" is not percent-encoded`, { cause });
  }
}
