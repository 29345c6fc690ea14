import { sqlText } from '../sql/engine-text.ts';

/** One step of a path: a member by name, an element by its 0-based place, or all elements. */
type Step =
  | { readonly kind: 'member'; readonly name: string }
  | { readonly kind: 'element'; readonly index: string }
  | { readonly kind: 'all' };

/**
 * What a path of `get_json_object` (`$.a.b[0]`, `$['a b']`, `$.list[*].x`) finds in a text, as text: strings without quotes, other
 * values as JSON, several as a JSON list. NULL when nothing is there, when the text is no JSON, or the path is no path.
 */
export function jsonPathSql(text: string, path: string): string {
  const steps = stepsOf(path);
  if (steps === undefined) return `CASE WHEN ${text} IS NULL THEN CAST(NULL AS VARCHAR) END`;
  const found = sqlText(`$${steps.map(stepText).join('')}`);
  const json = `CASE WHEN json_valid(${text}) THEN CAST(${text} AS JSON) END`;
  if (!steps.some(({ kind }) => kind === 'all')) return `(${json} ->> ${found})`;
  const all = `list_transform(json_extract(${json}, ${found}), lambda "__found": CAST("__found" AS VARCHAR))`;
  return `CASE len(${all}) WHEN 0 THEN NULL WHEN 1 THEN ${all}[1] ELSE '[' || array_to_string(${all}, ',') || ']' END`;
}

function stepsOf(path: string): readonly Step[] | undefined {
  if (!path.startsWith('$')) return undefined;
  const pattern = /\.([^.[]+)|\[(\d+)\]|\[(\*)\]|\['([^']*)'\]/y;
  const steps: Step[] = [];
  for (let at = 1; at < path.length; at = pattern.lastIndex) {
    pattern.lastIndex = at;
    const match = pattern.exec(path);
    if (match === null) return undefined;
    const [, plain, index, star, bracketed] = match;
    const name = plain ?? bracketed;
    if (name === '*') return undefined;
    steps.push(
      star !== undefined ? { kind: 'all' } : index !== undefined ? { kind: 'element', index } : { kind: 'member', name: name ?? '' },
    );
  }
  return steps;
}

function stepText(step: Step): string {
  switch (step.kind) {
    case 'member':
      return `."${step.name.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
    case 'element':
      return `[${step.index}]`;
    case 'all':
      return '[*]';
  }
}
