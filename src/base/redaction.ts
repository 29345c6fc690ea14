import type { JsonObject, JsonValue } from './json-value.ts';

/**
 * What is a secret: a value by the name it has, and a part of a text by its form. Everything that shows configuration, properties of tables,
 * errors or addresses asks here, so that there is one list.
 */

/** What stands where a secret was. */
export const mask = '***';
/** The same in the results of statements, as Spark has it. */
export const maskInResults = '*********(redacted)';

/** Looked for in a name without its separators, lower case. */
const secretName =
  /pass(?:word|wd|phrase)|pwd|secret|token|credential|authorization|cookie|signature|jaasconfig|(?:access|private|api|account|shared|sse|signing|encryption)key/;
/** Last words of names that speak about a secret and hold none. */
const speaksAboutOne = /^(?:enabled|ms|seconds|uri|url|endpoint|file|path|location|provider|type|scope|count|length)$/i;
const betweenWords = /[^a-zA-Z0-9]+|(?<=[a-z0-9])(?=[A-Z])/;
/** Values of request headers may be anything, and mostly are what grants access. */
const headerName = /(?:^|\.)header\.[^.]/i;

/** Whether what has this name (of a setting, a property, a parameter) is a secret: `s3.secret-access-key`, `saslPassword`, `header.x-id`. */
export function isSecretName(name: string): boolean {
  const letters = name.replaceAll(/[^a-zA-Z0-9]/g, '').toLowerCase();
  if (letters === 'sig') return true;
  const lastWord = name.split(betweenWords).at(-1) ?? '';
  return (secretName.test(letters) && !speaksAboutOne.test(lastWord)) || headerName.test(name);
}

/** A value that has a name, as it may be shown. An empty one is shown as empty: it says that none is set. */
export function shownValue(name: string, value: string, instead: string = mask): string {
  return isSecretName(name) && value !== '' ? instead : withoutSecrets(value, instead);
}

/** Entries by name, as they may be shown. */
export function shownEntries<Value extends string | undefined>(
  entries: Readonly<Record<string, Value>>,
  instead: string = mask,
): Readonly<Record<string, string | Value>> {
  return Object.fromEntries(
    Object.entries(entries).map(([name, value]) => [name, value === undefined ? value : shownValue(name, value, instead)]),
  );
}

/** `name=`, `'name' = ` and `"name":`, also with the quotes of JSON inside of JSON. The lengths bound the time that hostile text takes. */
const assignedName = /(?<![\w.-])([\w.-]{1,256})(\\?["'`])?(\s{0,2}[=:]\s{0,2})/g;
const assignedValue = /(\\?")(?:[^"\\]|\\(?!"))*(?:\\?"|$)|(')(?:[^'\\]|\\.)*(?:'|$)|[^\s,;&"'})\]]+/y;
/** Before the host: also where a password has characters that had to be encoded. */
const userInfo = /(:\/\/)(?:[^/?#\s@:[]{0,256}:(?!\d{1,5}(?:[/?#,\s"']|$))[^\s"'`<>]{0,4096}@|[^/?#\s"'`<>]{0,4096}@)/g;
/** There the part before the host is the name of a container. */
const containerScheme = /(?:abfss?|wasbs?)$/i;
const bearer = /\b([Bb]earer|BEARER|Basic) +(?=[^\s"']*[\d=._-])[^\s"',;]{8,}/g;
/** As a line of a request, whatever the value looks like. */
const logInHeader = /\b(authorization\s{0,2}:\s{0,2}(?:bearer|basic|digest|negotiate|aws4-hmac-sha256)) +[^\s"',;]+/gi;
const privateKey = /-----BEGIN [A-Z ]*PRIVATE KEY-----[^]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;

/** Texts of a value of JSON, and what is below names of secrets, as they may be shown. */
export function shownJson(value: JsonValue): JsonValue {
  if (typeof value === 'string') return withoutSecrets(value);
  if (Array.isArray(value)) return value.map(shownJson);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value as JsonObject).flatMap(([name, member]) =>
      member === undefined ? [] : [[name, isSecretName(name) ? maskedJson(member) : shownJson(member)] as const],
    ),
  );
}

/** A text without what is secret by its form: user and password of a URI, secret parameters and assignments, log-in headers, private keys. */
export function withoutSecrets(text: string, instead: string = mask): string {
  if (!/[@=:]|Bearer|Basic|PRIVATE/i.test(text)) return text;
  const formless = text
    .replaceAll(privateKey, () => instead)
    .replaceAll(userInfo, (whole, slashes: string, at: number) =>
      containerScheme.test(text.slice(Math.max(0, at - 5), at)) ? whole : `${slashes}${instead}@`,
    )
    .replaceAll(logInHeader, (_, header: string) => `${header} ${instead}`)
    .replaceAll(bearer, (_, kind: string) => `${kind} ${instead}`);
  return withoutAssigned(formless, instead);
}

function maskedJson(value: JsonValue): JsonValue {
  return value === null || value === '' ? value : mask;
}

function withoutAssigned(text: string, instead: string): string {
  let shown = '';
  let shownUntil = 0;
  assignedName.lastIndex = 0;
  for (let found = assignedName.exec(text); found !== null; found = assignedName.exec(text)) {
    const [, name = '', nameQuote, sign = ''] = found;
    const from = assignedName.lastIndex;
    if (!isSecretName(name)) continue;
    assignedValue.lastIndex = from;
    const [value, double, single] = assignedValue.exec(text) ?? [''];
    const quote = double ?? single ?? '';
    // A word and a colon in a sentence say nothing of what follows: that is an assignment only where both are quoted.
    const assigns = sign.includes('=') ? quote !== '' || sign === '=' : quote !== '' && nameQuote !== undefined;
    if (value === '' || value === quote + quote || !assigns) continue;
    shown += text.slice(shownUntil, from) + quote + instead + (value.length > quote.length && value.endsWith(quote) ? quote : '');
    shownUntil = from + value.length;
    assignedName.lastIndex = shownUntil;
  }
  return shown + text.slice(shownUntil);
}
