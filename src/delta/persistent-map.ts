/**
 * An immutable map by string: `with` and `without` share all but a few nodes with the map they start from (a hash trie of 32-way
 * nodes), so that a commit's cost is that of its own changes whatever the size of the table.
 */
export class PersistentMap<Value> implements Iterable<readonly [string, Value]> {
  readonly size: number;
  readonly #root: Node<Value> | undefined;

  private constructor(root: Node<Value> | undefined, size: number) {
    this.#root = root;
    this.size = size;
  }

  static empty<Value>(): PersistentMap<Value> {
    return new PersistentMap<Value>(undefined, 0);
  }

  get(key: string): Value | undefined {
    const hash = hashOf(key);
    let node = this.#root;
    for (let shift = 0; node !== undefined; shift += 5) {
      if (node.kind === 'leaf') return node.key === key ? node.value : undefined;
      if (node.kind === 'bucket') return node.leaves.find((leaf) => leaf.key === key)?.value;
      node = node.children[indexOf(node.bitmap, bitOf(hash, shift))];
      // The slot found may belong to another key; its own key decides in the next turn.
    }
    return undefined;
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  with(key: string, value: Value): PersistentMap<Value> {
    const leaf: Leaf<Value> = { kind: 'leaf', hash: hashOf(key), key, value };
    const grown = this.has(key) ? 0 : 1;
    return new PersistentMap(this.#root === undefined ? leaf : inserted(this.#root, leaf, 0), this.size + grown);
  }

  without(key: string): PersistentMap<Value> {
    if (this.#root === undefined || !this.has(key)) return this;
    return new PersistentMap(removed(this.#root, key, hashOf(key), 0), this.size - 1);
  }

  /** Order: by hash, the same for the same keys. */
  *[Symbol.iterator](): Generator<readonly [string, Value], void, undefined> {
    const stack: Node<Value>[] = this.#root === undefined ? [] : [this.#root];
    for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
      if (node.kind === 'leaf') yield [node.key, node.value];
      else if (node.kind === 'bucket') for (const leaf of node.leaves) yield [leaf.key, leaf.value];
      else stack.push(...node.children);
    }
  }

  *values(): Generator<Value, void, undefined> {
    for (const [, value] of this) yield value;
  }
}

interface Leaf<Value> {
  readonly kind: 'leaf';
  readonly hash: number;
  readonly key: string;
  readonly value: Value;
}

/** Keys of one whole hash. */
interface Bucket<Value> {
  readonly kind: 'bucket';
  readonly hash: number;
  readonly leaves: readonly Leaf<Value>[];
}

interface Branch<Value> {
  readonly kind: 'branch';
  /** Bit i: there is a child for the five hash bits i. */
  readonly bitmap: number;
  readonly children: readonly Node<Value>[];
}

type Node<Value> = Leaf<Value> | Bucket<Value> | Branch<Value>;

function inserted<Value>(node: Node<Value>, leaf: Leaf<Value>, shift: number): Node<Value> {
  if (node.kind === 'branch') {
    const bit = bitOf(leaf.hash, shift);
    const index = slotOf(node.bitmap, bit);
    const child = node.children[index];
    if ((node.bitmap & bit) === 0 || child === undefined) {
      return { kind: 'branch', bitmap: node.bitmap | bit, children: node.children.toSpliced(index, 0, leaf) };
    }
    return { kind: 'branch', bitmap: node.bitmap, children: node.children.with(index, inserted(child, leaf, shift + 5)) };
  }
  if (node.hash !== leaf.hash) return split(node, leaf, shift);
  if (node.kind === 'leaf') return node.key === leaf.key ? leaf : { kind: 'bucket', hash: leaf.hash, leaves: [node, leaf] };
  return { kind: 'bucket', hash: leaf.hash, leaves: [...node.leaves.filter((other) => other.key !== leaf.key), leaf] };
}

/** A branch that holds two nodes of different hashes. */
function split<Value>(node: Leaf<Value> | Bucket<Value>, leaf: Leaf<Value>, shift: number): Branch<Value> {
  const nodeBit = bitOf(node.hash, shift);
  const leafBit = bitOf(leaf.hash, shift);
  if (nodeBit === leafBit) return { kind: 'branch', bitmap: nodeBit, children: [split(node, leaf, shift + 5)] };
  const children = nodeBit >>> 0 < leafBit >>> 0 ? [node, leaf] : [leaf, node];
  return { kind: 'branch', bitmap: nodeBit | leafBit, children };
}

/** `key` is known to be below `node`. */
function removed<Value>(node: Node<Value>, key: string, hash: number, shift: number): Node<Value> | undefined {
  if (node.kind === 'leaf') return undefined;
  if (node.kind === 'bucket') {
    const leaves = node.leaves.filter((leaf) => leaf.key !== key);
    return leaves.length === 1 ? leaves[0] : { kind: 'bucket', hash, leaves };
  }
  const bit = bitOf(hash, shift);
  const index = slotOf(node.bitmap, bit);
  const child = node.children[index];
  const rest = child === undefined ? undefined : removed(child, key, hash, shift + 5);
  const children = rest === undefined ? node.children.toSpliced(index, 1) : node.children.with(index, rest);
  const only = children[0];
  if (only === undefined) return undefined;
  if (children.length === 1 && only.kind !== 'branch') return only;
  return { kind: 'branch', bitmap: rest === undefined ? node.bitmap & ~bit : node.bitmap, children };
}

/** FNV-1a over UTF-16 units, finished with an avalanche so that all bits can serve as digits. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index++) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}

function bitOf(hash: number, shift: number): number {
  return 1 << ((hash >>> shift) & 31);
}

/** Position of the child for `bit`, or -1 when there is none. */
function indexOf(bitmap: number, bit: number): number {
  return (bitmap & bit) === 0 ? -1 : slotOf(bitmap, bit);
}

function slotOf(bitmap: number, bit: number): number {
  return onesOf(bitmap & (bit - 1));
}

function onesOf(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
