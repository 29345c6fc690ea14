import { parseJson } from '../../base/bigint-json.ts';
import { encodeVariant, maxDecimalDigits, type VariantNode } from './encode-variant.ts';
import type { VariantBytes } from './fold-variant.ts';

const maxDepth = 1000;
const spaces = /[ \t\r\n]*/y;
const numbers = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
const texts = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const words = /true|false|null/y;

/**
 * JSON text as a variant, as Spark's `parse_json` reads it: integers and decimals of up to 38 digits keep all of them, numbers with an
 * exponent or more digits are doubles. `undefined` for text that is no JSON, or has an object with the same name twice.
 */
export function parseJsonVariant(text: string): VariantBytes | undefined {
  const parser = new Parser(text);
  const node = parser.value(0);
  return node === undefined || !parser.atEnd() ? undefined : encodeVariant(node);
}

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  atEnd(): boolean {
    this.#match(spaces);
    return this.#at === this.#text.length;
  }

  /** `undefined`: there is no value here. */
  value(depth: number): VariantNode | undefined {
    if (depth > maxDepth) return undefined;
    this.#match(spaces);
    const next = this.#text[this.#at];
    if (next === '{') return this.#object(depth);
    if (next === '[') return this.#list(depth);
    if (next === '"') return this.#string();
    const word = this.#match(words)?.[0];
    if (word !== undefined) return word === 'null' ? null : word === 'true';
    const number = this.#match(numbers);
    return number === undefined ? undefined : numberOf(number[0], number[2] !== undefined);
  }

  #list(depth: number): VariantNode | undefined {
    const elements: VariantNode[] = [];
    this.#at += 1;
    if (this.#take(']')) return { kind: 'list', elements };
    do {
      const element = this.value(depth + 1);
      if (element === undefined) return undefined;
      elements.push(element);
    } while (this.#take(','));
    return this.#take(']') ? { kind: 'list', elements } : undefined;
  }

  #object(depth: number): VariantNode | undefined {
    const members = new Map<string, VariantNode>();
    this.#at += 1;
    if (this.#take('}')) return { kind: 'object', members: [] };
    do {
      this.#match(spaces);
      const name = this.#string();
      if (name === undefined || members.has(name) || !this.#take(':')) return undefined;
      const value = this.value(depth + 1);
      if (value === undefined) return undefined;
      members.set(name, value);
    } while (this.#take(','));
    return this.#take('}') ? { kind: 'object', members: [...members] } : undefined;
  }

  #string(): string | undefined {
    const text = this.#match(texts)?.[0];
    const value = text === undefined ? undefined : parseJson(text, 'a text of a variant');
    return typeof value === 'string' ? value : undefined;
  }

  #take(mark: string): boolean {
    this.#match(spaces);
    if (this.#text[this.#at] !== mark) return false;
    this.#at += 1;
    return true;
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text) ?? undefined;
    this.#at += found?.[0].length ?? 0;
    return found;
  }
}

function numberOf(text: string, hasExponent: boolean): VariantNode {
  if (hasExponent) return Number(text);
  const [whole = '', fraction = ''] = text.split('.');
  const digits = `${whole}${fraction}`.replace('-', '').replace(/^0+/, '');
  if (Math.max(digits.length, fraction.length) > maxDecimalDigits) return Number(text);
  const unscaled = BigInt(`${whole}${fraction}`);
  return text.includes('.') ? { kind: 'decimal', unscaled, scale: fraction.length } : unscaled;
}
