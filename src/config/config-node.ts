/** Where a value comes from. */
export interface Origin {
  /** A file's path, `environment NAME`, or `--set path`. */
  readonly source: string;
  /** From 1; only for files. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

/** A configuration value that remembers where it was written. */
export type ConfigNode = ScalarNode | ListNode | MapNode;

export interface ScalarNode {
  readonly kind: 'scalar';
  readonly value: string | number | boolean;
  readonly origin: Origin;
}

export interface ListNode {
  readonly kind: 'list';
  readonly items: readonly ConfigNode[];
  readonly origin: Origin;
}

export interface MapNode {
  readonly kind: 'map';
  /** The origin of an entry is that of its key. */
  readonly entries: ReadonlyMap<string, { readonly node: ConfigNode; readonly origin: Origin }>;
  readonly origin: Origin;
}

export type ConfigPath = readonly (string | number)[];

/** `config/a.yaml:12:3`, `environment TIDEWATER__kafka__brokers`. */
export function printOrigin({ source, line, column }: Origin): string {
  return line === undefined ? source : `${source}:${line}:${column ?? 1}`;
}

/** `tables[0].columns[2].type`; the root is `(root)`. */
export function printPath(path: ConfigPath): string {
  const text = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`)).join('');
  return text === '' ? '(root)' : text.replace(/^\./, '');
}

/** What a parser of plain values takes. */
export function plainValue(node: ConfigNode): unknown {
  switch (node.kind) {
    case 'scalar':
      return node.value;
    case 'list':
      return node.items.map(plainValue);
    case 'map':
      // Without a prototype a key such as __proto__ is only a key.
      return Object.assign(
        Object.create(null),
        Object.fromEntries([...node.entries].map(([key, { node: child }]) => [key, plainValue(child)])),
      );
  }
}

/** Origin of the value at `path`, or of the nearest value around it when there is none. */
export function originAt(root: ConfigNode, path: ConfigPath): Origin {
  let origin = root.origin;
  let node = root;
  for (const part of path) {
    if (node.kind === 'scalar') return origin;
    const found = node.kind === 'map' ? node.entries.get(String(part)) : listEntry(node, Number(part));
    if (found === undefined) return origin;
    ({ node, origin } = found);
  }
  return origin;
}

/** `upper` over `lower`: maps are merged key by key, everything else is replaced whole. */
export function mergeNodes(lower: ConfigNode, upper: ConfigNode): ConfigNode {
  if (lower.kind !== 'map' || upper.kind !== 'map') return upper;
  const entries = new Map(lower.entries);
  for (const [key, entry] of upper.entries) {
    const below = entries.get(key);
    entries.set(key, below === undefined ? entry : { node: mergeNodes(below.node, entry.node), origin: entry.origin });
  }
  return { kind: 'map', entries, origin: upper.origin };
}

function listEntry(list: ListNode, index: number): { readonly node: ConfigNode; readonly origin: Origin } | undefined {
  const node = list.items[index];
  return node === undefined ? undefined : { node, origin: node.origin };
}
