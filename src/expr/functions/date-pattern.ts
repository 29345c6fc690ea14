import { sqlText } from '../sql/engine-text.ts';

/** A run of letters as the engine's `strftime` and `strptime` spell it, and what texts it reads. */
interface Letters {
  readonly code: string;
  readonly reads: string;
}

const name = '[A-Za-z]+';

const letters: Readonly<Record<string, Letters>> = {
  yyyy: { code: '%Y', reads: '\\d{4}' },
  y: { code: '%Y', reads: '\\d{1,4}' },
  uuuu: { code: '%Y', reads: '\\d{4}' },
  yy: { code: '%y', reads: '\\d{2}' },
  MM: { code: '%m', reads: '\\d{2}' },
  M: { code: '%-m', reads: '\\d{1,2}' },
  MMM: { code: '%b', reads: name },
  MMMM: { code: '%B', reads: name },
  LL: { code: '%m', reads: '\\d{2}' },
  LLL: { code: '%b', reads: name },
  LLLL: { code: '%B', reads: name },
  dd: { code: '%d', reads: '\\d{2}' },
  d: { code: '%-d', reads: '\\d{1,2}' },
  DDD: { code: '%j', reads: '\\d{3}' },
  D: { code: '%-j', reads: '\\d{1,3}' },
  HH: { code: '%H', reads: '\\d{2}' },
  H: { code: '%-H', reads: '\\d{1,2}' },
  hh: { code: '%I', reads: '\\d{2}' },
  h: { code: '%-I', reads: '\\d{1,2}' },
  mm: { code: '%M', reads: '\\d{2}' },
  m: { code: '%-M', reads: '\\d{1,2}' },
  ss: { code: '%S', reads: '\\d{2}' },
  s: { code: '%-S', reads: '\\d{1,2}' },
  SSS: { code: '%g', reads: '\\d{3}' },
  SSSSSS: { code: '%f', reads: '\\d{6}' },
  a: { code: '%p', reads: '[AaPp][Mm]' },
  E: { code: '%a', reads: name },
  EE: { code: '%a', reads: name },
  EEE: { code: '%a', reads: name },
  EEEE: { code: '%A', reads: name },
};

/** Runs that are written only, by what makes their text of a local time. */
function written(run: string, local: string): string | undefined {
  if (/^S{1,9}$/.test(run)) return `left(strftime(${local}, '%f') || '000', ${run.length})`;
  const quarter = `CAST(quarter(${local}) AS VARCHAR)`;
  if (run === 'Q' || run === 'q') return quarter;
  if (run === 'QQ' || run === 'qq') return `('0' || ${quarter})`;
  return run === 'QQQ' || run === 'qqq' ? `('Q' || ${quarter})` : undefined;
}

interface Part {
  /** Letters, or `undefined` for text that stands for itself. */
  readonly run: string | undefined;
  readonly text: string;
}

function partsOf(pattern: string): readonly Part[] | undefined {
  const parts: Part[] = [];
  for (let at = 0; at < pattern.length; ) {
    // The brackets and signs left out are of Java's patterns.
    const part = /'(?:[^']|'')*'|([A-Za-z])\1*|[^A-Za-z'[\]{}#]/y;
    part.lastIndex = at;
    const text = part.exec(pattern)?.[0];
    if (text === undefined) return undefined;
    parts.push(/^[A-Za-z]/.test(text) ? { run: text, text } : { run: undefined, text: plainText(text) });
    at += text.length;
  }
  return parts;
}

function plainText(text: string): string {
  return text === "''" ? "'" : text.startsWith("'") ? text.slice(1, -1).replaceAll("''", "'") : text;
}

function lettersOf(run: string): Letters | undefined {
  return Object.hasOwn(letters, run) ? letters[run] : undefined;
}

/** A local time in a Java date pattern (`yyyy-MM-dd HH:mm:ss`); `undefined` for a pattern with a letter that is not known. */
export function formattedTime(local: string, pattern: string): string | undefined {
  const parts = partsOf(pattern);
  if (parts === undefined) return undefined;
  const pieces: string[] = [];
  let codes = '';
  for (const { run, text } of parts) {
    const code = run === undefined ? text.replaceAll('%', '%%') : lettersOf(run)?.code;
    if (code !== undefined) codes += code;
    else {
      const piece = run === undefined ? undefined : written(run, local);
      if (piece === undefined) return undefined;
      if (codes !== '') pieces.push(`strftime(${local}, ${sqlText(codes)})`);
      pieces.push(piece);
      codes = '';
    }
  }
  if (codes !== '' || pieces.length === 0) pieces.push(`strftime(${local}, ${sqlText(codes)})`);
  return pieces.length === 1 ? pieces[0] : `(${pieces.join(' || ')})`;
}

/** The local time of a text by a Java date pattern, NULL where it is none; `undefined` for a pattern with a letter that is not known. */
export function readTime(text: string, pattern: string): string | undefined {
  const parts = partsOf(pattern);
  if (parts === undefined) return undefined;
  const known = parts.map(({ run, text: plain }) =>
    run === undefined ? { code: plain.replaceAll('%', '%%'), reads: plain.replaceAll(/[^\p{L}\p{N}]/gu, '\\$&') } : lettersOf(run),
  );
  const found = known.filter((part) => part !== undefined);
  if (found.length < known.length) return undefined;
  // The engine itself takes fewer digits than a pattern asks for.
  const fits = `regexp_full_match(${text}, ${sqlText(found.map(({ reads }) => reads).join(''))})`;
  return `CASE WHEN ${fits} THEN try_strptime(${text}, ${sqlText(found.map(({ code }) => code).join(''))}) END`;
}

/** A pattern in the codes of `strftime` and `strptime`; `undefined` for a letter that they do not have. */
export function datePattern(pattern: string): string | undefined {
  const codes = partsOf(pattern)?.map(({ run, text }) => (run === undefined ? text.replaceAll('%', '%%') : lettersOf(run)?.code));
  return codes === undefined || codes.includes(undefined) ? undefined : codes.join('');
}
