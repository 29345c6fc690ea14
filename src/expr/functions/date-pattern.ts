/** Letters of a Java date pattern by their run, as the engine's `strftime` spells them. */
const codes: Readonly<Record<string, string>> = {
  yyyy: '%Y',
  y: '%Y',
  uuuu: '%Y',
  yy: '%y',
  MM: '%m',
  M: '%-m',
  MMM: '%b',
  MMMM: '%B',
  LL: '%m',
  dd: '%d',
  d: '%-d',
  DDD: '%j',
  D: '%-j',
  HH: '%H',
  H: '%-H',
  hh: '%I',
  h: '%-I',
  mm: '%M',
  m: '%-M',
  ss: '%S',
  s: '%-S',
  SSS: '%g',
  SSSSSS: '%f',
  a: '%p',
  E: '%a',
  EEE: '%a',
  EEEE: '%A',
};

/** A Java date pattern (`yyyy-MM-dd HH:mm:ss`) for `strftime` and `strptime`; `undefined` for a letter they do not have. */
export function datePattern(pattern: string): string | undefined {
  let result = '';
  for (let at = 0; at < pattern.length; ) {
    const part = /'(?:[^']|'')*'|([A-Za-z])\1*|[^A-Za-z']/y;
    part.lastIndex = at;
    const text = part.exec(pattern)?.[0];
    if (text === undefined) return undefined;
    const code = /^[A-Za-z]/.test(text) ? codes[text] : plainText(text);
    if (code === undefined) return undefined;
    result += code;
    at += text.length;
  }
  return result;
}

function plainText(text: string): string {
  const plain = text === "''" ? "'" : text.startsWith("'") ? text.slice(1, -1).replaceAll("''", "'") : text;
  return plain.replaceAll('%', '%%');
}
