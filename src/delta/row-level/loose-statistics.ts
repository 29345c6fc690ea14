import type { Range } from '../../schema/slice.ts';
/**
 * Statistics of a file some of whose rows are deleted by a vector: the row count stays physical, and bounds and counts are no longer
 * tight. The rest of the text is kept as it is, so that no number in it changes.
 */
export function looseStatistics(stats: string | undefined, physicalRows: number): string {
  const text = stats?.trim() ?? '';
  if (!text.startsWith('{') || !text.endsWith('}')) return `{"numRecords":${physicalRows},"tightBounds":false}`;
  const tight = memberValue(text, 'tightBounds');
  const loose =
    tight === undefined
      ? `${text.slice(0, -1).trimEnd()}${/\{\s*\}$/.test(text) ? '' : ','}"tightBounds":false}`
      : `${text.slice(0, tight.from)}false${text.slice(tight.until)}`;
  return memberValue(loose, 'numRecords') === undefined ? `{"numRecords":${physicalRows},${loose.slice(1)}` : loose;
}

/** Strings, brackets, and everything between them that is neither space nor punctuation. */
const lexeme = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/gs;

/** Where the plain value of a member of the outermost object stands. */
function memberValue(text: string, name: string): Range | undefined {
  let depth = 0;
  let seen: 'nothing' | 'name' | 'colon' = 'nothing';
  for (const match of text.matchAll(lexeme)) {
    const [token] = match;
    if (seen === 'colon') return { from: match.index, until: match.index + token.length };
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    if (depth !== 1) seen = 'nothing';
    else if (seen === 'name') seen = token === ':' ? 'colon' : 'nothing';
    else if (token === `"${name}"`) seen = 'name';
  }
  return undefined;
}
