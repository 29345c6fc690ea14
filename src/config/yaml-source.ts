import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type Scalar } from 'yaml';
import { type ServiceError, serviceError } from '../base/errors.ts';
import type { ConfigNode, Origin } from './config-node.ts';
import { printOrigin } from './config-node.ts';
import { type SubstitutionSources, substitute } from './substitution.ts';

const maxLength = 1_000_000;
/** Bounds what aliases can blow a small file up to. */
const maxNodes = 100_000;
/** Each costs a walk through the document. */
const maxAliases = 1_000;
const maxDepth = 64;

/**
 * Reads one YAML file into nodes with positions; references in scalars are replaced. Empty values count as absent.
 *
 * @throws ServiceError `CONFIG_YAML_INVALID` (kind invalid) with file, line and column, or what `substitute` throws.
 */
export function readYaml(text: string, options: { readonly source: string; readonly substitutions: SubstitutionSources }): ConfigNode {
  const { source } = options;
  if (text.length > maxLength) throw yamlInvalid({ source }, `is longer than ${maxLength} characters`);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true, merge: false });
  const problem = document.errors[0];
  if (problem !== undefined) {
    const { line, col } = lines.linePos(problem.pos[0]);
    throw yamlInvalid({ source, line, column: col }, problem.message);
  }
  const root = new YamlReader(document, lines, options).read();
  if (root.kind !== 'map') throw yamlInvalid(root.origin, 'a map is expected at the top');
  return root;
}

class YamlReader {
  readonly #document: Document;
  readonly #lines: LineCounter;
  readonly #source: string;
  readonly #substitutions: SubstitutionSources;
  #nodeCount = 0;
  #aliasCount = 0;

  constructor(document: Document, lines: LineCounter, options: { readonly source: string; readonly substitutions: SubstitutionSources }) {
    this.#document = document;
    this.#lines = lines;
    this.#source = options.source;
    this.#substitutions = options.substitutions;
  }

  read(): ConfigNode {
    const origin = { source: this.#source, line: 1, column: 1 };
    return this.#node(this.#document.contents, origin, 0) ?? { kind: 'map', entries: new Map(), origin };
  }

  #node(node: Node | null, around: Origin, depth: number): ConfigNode | undefined {
    const origin = this.#originOf(node) ?? around;
    this.#nodeCount += 1;
    if (this.#nodeCount > maxNodes) throw yamlInvalid(origin, `has more than ${maxNodes} values, aliases expanded`);
    if (depth > maxDepth) throw yamlInvalid(origin, `is nested deeper than ${maxDepth}`);
    if (isAlias(node)) {
      this.#aliasCount += 1;
      if (this.#aliasCount > maxAliases) throw yamlInvalid(origin, `follows more than ${maxAliases} aliases`);
      return this.#node(node.resolve(this.#document) ?? null, origin, depth + 1);
    }
    if (isScalar(node)) return this.#scalar(node, origin);
    if (isSeq<Node>(node)) {
      const items = node.items.map((item) => this.#node(item, origin, depth + 1)).filter((item) => item !== undefined);
      return { kind: 'list', items, origin };
    }
    if (!isMap<Node, Node>(node)) return undefined;
    const entries = new Map<string, { readonly node: ConfigNode; readonly origin: Origin }>();
    for (const { key, value } of node.items) {
      const keyOrigin = this.#originOf(key) ?? origin;
      if (!isScalar(key)) throw yamlInvalid(keyOrigin, 'a key must be plain text');
      const child = this.#node(value, keyOrigin, depth + 1);
      if (child !== undefined) entries.set(String(key.value), { node: child, origin: keyOrigin });
    }
    return { kind: 'map', entries, origin };
  }

  #scalar({ value, source }: Scalar, origin: Origin): ConfigNode | undefined {
    if (value === null || value === undefined) return undefined;
    if (typeof value === 'boolean') return { kind: 'scalar', value, origin };
    // A number that would not print as it was written (0123, 1.10, 20-digit ids) stays the text it was.
    if (typeof value === 'number')
      return { kind: 'scalar', value: source === undefined || String(value) === source ? value : source, origin };
    const text = typeof value === 'string' ? value : (source ?? '');
    return { kind: 'scalar', value: substitute(text, this.#substitutions, printOrigin(origin)), origin };
  }

  #originOf(node: Node | null | undefined): Origin | undefined {
    const start = node?.range?.[0];
    if (start === undefined) return undefined;
    const { line, col } = this.#lines.linePos(start);
    return { source: this.#source, line, column: col };
  }
}

function yamlInvalid(origin: Origin, problem: string): ServiceError {
  return serviceError.invalid('CONFIG_YAML_INVALID', `${printOrigin(origin)}: ${problem}`);
}
