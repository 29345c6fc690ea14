/** Longer keys make no name. */
const maxKeyLength = 150;
const maxNameLength = 200;

/** What stands for the key in the name of a template. */
const keyPlace = '{key}';

/**
 * The name of the table that is made for a key: in lower case, with `_` for every character that is no letter of ASCII, digit or underscore, so that
 * it is a name in every catalog and no path. `undefined` for keys that make none: empty ones, those without a letter or digit, and long ones.
 */
export function madeName(template: string, key: string): string | undefined {
  if (key.length > maxKeyLength || !/[a-zA-Z0-9]/u.test(key) || /\p{Cs}/u.test(key)) return undefined;
  const cleaned = key.toLowerCase().replace(/[^a-z0-9_]/gu, '_');
  const name = template.replace(keyPlace, cleaned);
  return name.length > maxNameLength ? undefined : name;
}

/** Whether two templates can make one name: what stands before the key, and what stands behind it, is the other's or begins or ends with it. */
export function mayMeet(one: string, other: string): boolean {
  const [before = '', behind = ''] = one.split(keyPlace);
  const [otherBefore = '', otherBehind = ''] = other.split(keyPlace);
  const begins = before.startsWith(otherBefore) || otherBefore.startsWith(before);
  return begins && (behind.endsWith(otherBehind) || otherBehind.endsWith(behind));
}

/** Whether a template can make the name. */
export function mayMake(template: string, name: string): boolean {
  const [before = '', behind = ''] = template.split(keyPlace);
  return name.length > before.length + behind.length && name.startsWith(before) && name.endsWith(behind);
}
