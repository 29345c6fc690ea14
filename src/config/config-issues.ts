import type { z } from 'zod';
import type { JsonObject } from '../base/bigint-json.ts';
import { ServiceError } from '../base/errors.ts';
import { nearestName } from '../base/nearest-name.ts';
import { type ConfigNode, type ConfigPath, originAt, printOrigin, printPath } from './config-node.ts';
import { keysOf, schemaAt } from './json-schema.ts';

const maxShown = 20;
const maxKeysInHint = 40;

/** One thing that is wrong with the configuration. */
export interface ConfigIssue {
  readonly code: 'CONFIG_UNKNOWN_KEY' | 'CONFIG_MISSING_KEY' | 'CONFIG_INVALID';
  readonly path: ConfigPath;
  readonly message: string;
  readonly hint?: string | undefined;
}

/** What zod found, in the words of the configuration. */
export function issuesOf(error: z.ZodError, root: ConfigNode, schema: JsonObject): readonly ConfigIssue[] {
  return translate(error.issues, [], root, schema);
}

function translate(issues: readonly z.core.$ZodIssue[], above: ConfigPath, root: ConfigNode, schema: JsonObject): readonly ConfigIssue[] {
  return issues.flatMap((issue) => {
    const path = [...above, ...issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part))];
    const meant = issue.code === 'invalid_union' ? meantAlternative(issue.errors) : undefined;
    if (meant !== undefined) return translate(meant, path, root, schema);
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey(path, key, schema));
    if (isAbsent(root, path)) return [missing(path, schema)];
    return [{ code: 'CONFIG_INVALID' as const, path, message: lowerFirst(issue.message.replace(/^Invalid input: /, '')) }];
  });
}

/** One error for all issues: the first gives the code, each line says where and what. */
export function configError(issues: readonly ConfigIssue[], root: ConfigNode): ServiceError {
  const rank = (issue: ConfigIssue): number => (issue.code === 'CONFIG_UNKNOWN_KEY' ? 0 : 1);
  const sorted = issues.toSorted((left, right) => rank(left) - rank(right));
  const lines = sorted
    .slice(0, maxShown)
    .map((issue) => `${printOrigin(originAt(root, issue.path))}: ${printPath(issue.path)}: ${issue.message}`);
  if (sorted.length > maxShown) lines.push(`and ${sorted.length - maxShown} more`);
  return new ServiceError({
    code: sorted[0]?.code ?? 'CONFIG_INVALID',
    kind: 'invalid',
    message: lines.join('\n'),
    hint:
      sorted.find((issue) => issue.hint !== undefined)?.hint ??
      'every setting is described in docs/reference/configuration.md and by `tidewater config schema`',
    context: { issues: issues.length, path: printPath(sorted[0]?.path ?? []) },
  });
}

/** The only alternative of a union whose shape was met, so that what is wrong inside it is what to tell. */
function meantAlternative(alternatives: readonly (readonly z.core.$ZodIssue[])[]): readonly z.core.$ZodIssue[] | undefined {
  const sameShape = alternatives.filter(
    (issues) => !issues.some(({ path, code }) => path.length === 0 && code !== 'unrecognized_keys' && code !== 'custom'),
  );
  return sameShape.length === 1 ? sameShape[0] : undefined;
}

function unknownKey(path: ConfigPath, key: string, schema: JsonObject): ConfigIssue {
  const known = keysOf(schemaAt(schema, path));
  const nearest = nearestName(key, known);
  const message = nearest === undefined ? 'unknown key' : `unknown key; did you mean "${nearest}"?`;
  const listed = known.length === 0 || known.length > maxKeysInHint ? undefined : `${printPath(path)} takes ${known.join(', ')}`;
  return { code: 'CONFIG_UNKNOWN_KEY', path: [...path, key], message, hint: listed };
}

function missing(path: ConfigPath, schema: JsonObject): ConfigIssue {
  const description = schemaAt(schema, path)?.['description'];
  return {
    code: 'CONFIG_MISSING_KEY',
    path,
    message: 'is required',
    hint: typeof description === 'string' ? `${printPath(path)}: ${description}` : undefined,
  };
}

function isAbsent(root: ConfigNode, path: ConfigPath): boolean {
  let node: ConfigNode | undefined = root;
  for (const part of path) {
    if (node.kind === 'scalar') return false;
    node = node.kind === 'map' ? node.entries.get(String(part))?.node : node.items[Number(part)];
    if (node === undefined) return true;
  }
  return false;
}

function lowerFirst(text: string): string {
  // An all-caps word or a quoted value keeps its case.
  return /^[A-Z][a-z]/.test(text) ? `${text.charAt(0).toLowerCase()}${text.slice(1)}` : text;
}
