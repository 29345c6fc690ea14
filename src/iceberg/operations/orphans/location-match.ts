import { illegalArgument } from '../operation-errors.ts';

/** A location in its parts. Local paths have no scheme, however they are spelled. */
export interface LocationParts {
  readonly scheme: string;
  readonly authority: string;
  readonly path: string;
}

/** Which schemes and authorities mean the same. */
export interface SameLocations {
  readonly schemes: ReadonlyMap<string, string>;
  readonly authorities: ReadonlyMap<string, string>;
}

/** What is done with files whose path is referred to under another scheme or authority. */
export type PrefixMismatchMode = 'error' | 'ignore' | 'delete';

const defaultEqualSchemes: ReadonlyMap<string, string> = new Map([
  ['s3n', 's3'],
  ['s3a', 's3'],
]);

/** @throws AnalysisException `INVALID_ARGUMENT` for a mode that there is not. */
export function prefixMismatchMode(text: string | undefined): PrefixMismatchMode {
  const mode = text?.toLowerCase() ?? 'error';
  if (mode === 'error' || mode === 'ignore' || mode === 'delete') return mode;
  throw illegalArgument(`Invalid mode: ${text ?? ''}`, 'ERROR, IGNORE or DELETE');
}

/** `{'s3a,s3n': 's3'}` as other engines write it: several names may stand before one. */
export function sameLocations(
  equalSchemes: ReadonlyMap<string, string> | undefined,
  equalAuthorities: ReadonlyMap<string, string> | undefined,
): SameLocations {
  return { schemes: new Map([...defaultEqualSchemes, ...flat(equalSchemes)]), authorities: flat(equalAuthorities) };
}

export function partsOf(location: string, same: SameLocations): LocationParts {
  const [, scheme = '', , authority = '', path = ''] = /^(?:([a-z][a-z0-9+.-]*):)?(\/\/([^/]*))?(.*)$/is.exec(location) ?? [];
  const lower = scheme.toLowerCase();
  return {
    scheme: lower === 'file' ? '' : (same.schemes.get(lower) ?? lower),
    authority: same.authorities.get(authority) ?? authority,
    path: path.replace(/\/{2,}/g, '/'),
  };
}

/** Whether a location the metadata has may be that of a file: what it does not say fits anything. */
export function fits(referred: LocationParts, found: LocationParts): boolean {
  return (
    (referred.scheme === '' || referred.scheme === found.scheme) &&
    (referred.authority === '' || referred.authority.toLowerCase() === found.authority.toLowerCase())
  );
}

function flat(names: ReadonlyMap<string, string> | undefined): ReadonlyMap<string, string> {
  const entries = [...(names ?? [])].flatMap(([several, one]) => several.split(',').map((name) => [name.trim(), one.trim()] as const));
  return new Map(entries);
}
