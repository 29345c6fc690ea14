import type { JsonObject } from '../base/bigint-json.ts';
import { type ServiceError, serviceError } from '../base/errors.ts';
import type { ConfigNode, ConfigPath, MapNode, Origin } from './config-node.ts';
import { keysOf, schemaAt } from './json-schema.ts';
import { readYaml } from './yaml-source.ts';

/** Environment variables with this prefix override settings: `TIDEWATER__kafka__clientId=x`. */
export const overridePrefix = 'TIDEWATER__';

export interface Override {
  readonly path: readonly string[];
  readonly value: string;
  readonly origin: Origin;
}

/** Overrides in the environment, ordered by name so that the result does not depend on the environment's order. */
export function environmentOverrides(env: Readonly<Record<string, string | undefined>>): readonly Override[] {
  return Object.entries(env)
    .filter(([name, value]) => name.startsWith(overridePrefix) && value !== undefined)
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, value]) => ({
      path: name.slice(overridePrefix.length).split('__'),
      value: value ?? '',
      origin: { source: `environment ${name}` },
    }));
}

/** @throws ServiceError `CONFIG_OVERRIDE_INVALID` (kind invalid) when it is not `path=value`. */
export function parseOverride(text: string): Override {
  const equals = text.indexOf('=');
  const path = pathOf(text.slice(0, Math.max(equals, 0)));
  if (equals <= 0 || path.includes(''))
    throw overrideInvalid(
      `--set ${equals < 0 ? text : `${text.slice(0, equals)}=…`}`,
      'is not of the form path=value',
      'write --set ingest.maxBatchAge=5s',
    );
  return { path, value: text.slice(equals + 1), origin: { source: `--set ${path.join('.')}` } };
}

/** Parts are between dots, or in brackets where they have dots themselves: `feeds[cdf.orders].envelope`. */
function pathOf(text: string): readonly string[] {
  const parts = text.replaceAll(/\[([^\]]*)\]/g, (_, part: string) => `.${part.replaceAll('.', '\u0000')}`).split('.');
  return parts.map((part) => part.replaceAll('\u0000', '.'));
}

/**
 * The tree with one value replaced. `null` removes it; a value that starts with `[` or `{` is read as YAML; all else is text. Keys are
 * matched without regard to case; entries of lists are addressed by index, by their `name`, else by their
 * `topic`, else by their `table` where one entry has it.
 *
 * @throws ServiceError `CONFIG_OVERRIDE_INVALID` (kind invalid).
 */
export function applyOverride(root: ConfigNode, override: Override, schema: JsonObject): ConfigNode {
  const value = readValue(override);
  return replaceAt({ node: root, done: [], left: override.path, value, schema, override }) ?? emptyMap(override.origin);
}

function readValue({ value, origin }: Override): ConfigNode | undefined {
  if (value === 'null') return undefined;
  if (!/^\s*[[{]/.test(value)) return { kind: 'scalar', value, origin };
  const literal = { env: {}, readText: () => '' };
  const wrapped = readYaml(`value: ${value.replaceAll('${', '$${')}`, { source: origin.source, substitutions: literal });
  const node = wrapped.kind === 'map' ? wrapped.entries.get('value')?.node : undefined;
  return node === undefined ? undefined : withOrigin(node, origin);
}

interface Step {
  readonly node: ConfigNode | undefined;
  readonly done: ConfigPath;
  readonly left: readonly string[];
  readonly value: ConfigNode | undefined;
  readonly schema: JsonObject;
  readonly override: Override;
}

function replaceAt(step: Step): ConfigNode | undefined {
  const { node, done, left, value, schema, override } = step;
  const [part, ...rest] = left;
  if (part === undefined) return value;
  if (node?.kind === 'list') {
    const index = indexOf(node.items, part, override);
    const item = replaceAt({ ...step, node: node.items[index], done: [...done, index], left: rest });
    return { ...node, items: item === undefined ? node.items.toSpliced(index, 1) : node.items.toSpliced(index, 1, item) };
  }
  if (node?.kind === 'scalar') throw overrideInvalid(override.origin.source, `"${part}" lies below a plain value`);
  const key = keysOf(schemaAt(schema, done)).find((known) => known.toLowerCase() === part.toLowerCase()) ?? part;
  const map = node ?? emptyMap(override.origin);
  const child = replaceAt({ ...step, node: map.entries.get(key)?.node, done: [...done, key], left: rest });
  const entries = new Map(map.entries);
  if (child === undefined) entries.delete(key);
  else entries.set(key, { node: child, origin: rest.length === 0 ? override.origin : (map.entries.get(key)?.origin ?? override.origin) });
  return { ...map, entries };
}

function indexOf(items: readonly ConfigNode[], part: string, override: Override): number {
  for (const key of ['name', 'topic', 'table']) {
    const found = items.flatMap((item, index) => (item.kind === 'map' && scalarText(item.entries.get(key)?.node) === part ? [index] : []));
    const [first] = found;
    if (first === undefined) continue;
    if (found.length === 1) return first;
    const places = found.map((index) => `[${index}]`).join(', ');
    throw overrideInvalid(override.origin.source, `the list has several entries "${part}": ${places}; address one by its name or place`);
  }
  const index = Number(part);
  if (/^\d+$/.test(part) && index <= items.length) return index;
  throw overrideInvalid(override.origin.source, `the list has no entry "${part}"; it has ${items.length}`);
}

function scalarText(node: ConfigNode | undefined): string | undefined {
  return node?.kind === 'scalar' ? String(node.value) : undefined;
}

function emptyMap(origin: Origin): MapNode {
  return { kind: 'map', entries: new Map(), origin };
}

function withOrigin(node: ConfigNode, origin: Origin): ConfigNode {
  switch (node.kind) {
    case 'scalar':
      return { ...node, origin };
    case 'list':
      return { ...node, origin, items: node.items.map((item) => withOrigin(item, origin)) };
    case 'map':
      return {
        ...node,
        origin,
        entries: new Map([...node.entries].map(([key, entry]) => [key, { node: withOrigin(entry.node, origin), origin }])),
      };
  }
}

function overrideInvalid(source: string, problem: string, hint?: string): ServiceError {
  return serviceError.invalid('CONFIG_OVERRIDE_INVALID', `${source}: ${problem}`, { hint });
}
