import type { TopicMatch } from '../kafka/client.ts';

/** More topics behind one pattern are refused. */
const maxMatchedTopics = 1_000;

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

/** What a route's pattern matches: whole names, none of `own`, which the pipeline writes itself. @throws SyntaxError for what is no regular expression. */
export function topicMatch(pattern: string, own: ReadonlySet<string>): TopicMatch {
  const expression = new RegExp(`^(?:${pattern})$`);
  return { test: (topic) => !own.has(topic) && !topic.startsWith('__') && expression.test(topic), maxTopics: maxMatchedTopics };
}
