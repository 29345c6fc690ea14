/** Matches texts as a whole. @throws SyntaxError for what is no regular expression. */
export function wholePattern(pattern: string, flags: '' | 'u' = ''): RegExp {
  return new RegExp(`^(?:${pattern})$`, flags);
}

/** What is the matter with a pattern that an operator gives; `undefined`: nothing, it is compared in a time that its texts bound. */
export function patternProblem(pattern: string, flags: '' | 'u' = ''): string | undefined {
  const exploding = explodingGroup(pattern);
  if (exploding !== undefined)
    return `"${exploding}" repeats what repeats or has alternatives itself, which some texts take for ever to be compared with; write it without the outer repeat, such as [a-z.]+`;
  try {
    wholePattern(pattern, flags);
    return undefined;
  } catch (error) {
    return `is no regular expression: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/**
 * The repeated group of a pattern that can match one text in more ways than can be tried, such as `(a+)+` or `(a|a)*`: one that is repeated and has
 * repeats or alternatives in it. `undefined`: there is none.
 */
export function explodingGroup(pattern: string): string | undefined {
  // What a group begins with, and whether its ways are many; the first is the whole pattern.
  const open: { readonly from: number; many: boolean }[] = [{ from: 0, many: false }];
  let inClass = false;
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at];
    const group = open.at(-1);
    if (character === '\\') at += 1;
    else if (inClass) inClass = character !== ']';
    else if (character === '[') inClass = true;
    else if (character === '(') open.push({ from: at, many: false });
    else if (character === ')') {
      open.pop();
      if (group?.many === true && /^(?:[*+]|\{\d+,)/.test(pattern.slice(at + 1))) return pattern.slice(group.from, at + 2);
      const outer = open.at(-1);
      if (outer !== undefined && group !== undefined) outer.many ||= group.many;
    } else if (group !== undefined) group.many ||= isMany(pattern, at);
  }
  return undefined;
}

/** A repeat that takes more or less, or an alternative; what follows the `(` of a group is neither. */
function isMany(pattern: string, at: number): boolean {
  if (pattern[at - 1] === '(') return false;
  return /^(?:[*+?|]|\{\d+,)/.test(pattern.slice(at, at + 12));
}
