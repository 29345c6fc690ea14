import type { ValueEncoding } from '../../../../src/protocol/payload-encoding.ts';

/** A value as its producer means it, whatever it is written in. */
export type Meant =
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'integer'; readonly value: bigint }
  | { readonly kind: 'double' | 'float'; readonly value: number }
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'bytes'; readonly value: Uint8Array }
  | { readonly kind: 'decimal'; readonly unscaled: bigint; readonly scale: number }
  /** Days since 1970, and as text. */
  | { readonly kind: 'date'; readonly days: number; readonly text: string }
  /** Microseconds since 1970, and as text. */
  | { readonly kind: 'timestamp'; readonly micros: bigint; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly Meant[]; readonly of: Meant }
  | { readonly kind: 'map'; readonly entries: readonly (readonly [key: string, value: Meant])[]; readonly of: Meant }
  | { readonly kind: 'struct'; readonly members: Readonly<Record<string, Meant>> }
  /** One of a list of names. */
  | { readonly kind: 'symbol'; readonly value: string; readonly symbols: readonly string[] }
  /** A value of one of several types. */
  | { readonly kind: 'union'; readonly value: Meant; readonly of: readonly Meant[] }
  /** Members of which one is there. */
  | { readonly kind: 'oneof'; readonly chosen: string; readonly members: Readonly<Record<string, Meant>> };

/** What a payload has: a value, null where the encoding tells it from nothing, or nothing. Of the type of `like`. */
export type Given = Meant | Missing;

export interface Missing {
  /** `default`: nothing, and the schema says that it is `like` then. */
  readonly kind: 'null' | 'absent' | 'default';
  readonly like: Meant;
}

export function isMissing(given: Given): given is Missing {
  return given.kind === 'null' || given.kind === 'absent' || given.kind === 'default';
}

export interface Written {
  readonly payload: Uint8Array;
  readonly value: ValueEncoding;
  /** The schema that wrote it, where a registry has it: the id is 7. */
  readonly writer?: string | undefined;
}

/** One encoding: how a producer writes a payload with one member `v`, and how a route says that it is read. */
export interface Encoding {
  readonly name: string;
  /** Kinds of values that it does not have, and why. */
  readonly lacks: Readonly<Partial<Record<Given['kind'], string>>>;
  /** Columns that it can fill; others are refused when the decoder is made. Absent: all. */
  readonly fills?: { readonly columns: RegExp; readonly refusal: string } | undefined;
  write(given: Given): Written;
}

export function chosenOf({ chosen, members }: Extract<Meant, { kind: 'oneof' }>): readonly [name: string, value: Meant] {
  const value = members[chosen];
  if (value === undefined) throw new Error(`no member ${chosen}`);
  return [chosen, value];
}

export function meantOf(given: Given): Meant {
  return isMissing(given) ? given.like : given;
}

export function decimalText(unscaled: bigint, scale: number): string {
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  return `${unscaled < 0n ? '-' : ''}${whole}${scale === 0 ? '' : `.${digits.slice(-scale)}`}`;
}

/** The least bytes of a two's complement number, the highest first. */
export function bigEndian(value: bigint): Buffer {
  let length = 1;
  while (BigInt.asIntN(8 * length, value) !== value) length += 1;
  return Buffer.from(
    BigInt.asUintN(8 * length, value)
      .toString(16)
      .padStart(2 * length, '0'),
    'hex',
  );
}

export function jsonText(meant: Meant): string {
  switch (meant.kind) {
    case 'boolean':
    case 'integer':
      return meant.value.toString();
    case 'double':
    case 'float':
      return Object.is(meant.value, -0) ? '-0.0' : String(meant.value);
    case 'text':
      return JSON.stringify(meant.value);
    case 'bytes':
      return JSON.stringify(Buffer.from(meant.value).toString('base64'));
    case 'decimal':
      return decimalText(meant.unscaled, meant.scale);
    case 'date':
    case 'timestamp':
      return JSON.stringify(meant.text);
    case 'list':
      return `[${meant.items.map(jsonText).join(',')}]`;
    case 'map':
      return `{${meant.entries.map(([key, value]) => `${JSON.stringify(key)}:${jsonText(value)}`).join(',')}}`;
    case 'struct':
      return `{${Object.entries(meant.members)
        .map(([name, value]) => `${JSON.stringify(name)}:${jsonText(value)}`)
        .join(',')}}`;
    case 'symbol':
      return JSON.stringify(meant.value);
    case 'union':
      return jsonText(meant.value);
    case 'oneof':
      return jsonText({ kind: 'struct', members: Object.fromEntries([chosenOf(meant)]) });
  }
}
