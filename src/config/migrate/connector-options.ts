import { isSecretName, withoutSecrets } from '../../base/redaction.ts';
import type { YamlScalar } from '../pipeline-yaml.ts';

/** What became of an option that is no line of the new configuration. */
export type Fate =
  /** Nothing has to be set for what it does. */
  | 'needless'
  /** Nothing does what it does. */
  | 'unmatched'
  /** What it asks for is refused. */
  | 'refused'
  /** A person has to decide or look. */
  | 'doubtful';

export interface OptionNote {
  readonly option: string;
  readonly fate: Fate;
  readonly text: string;
}

/** A row of a table of options: `name` ends with `*` where it is the beginning of names. */
export interface FateRule {
  readonly name: string;
  readonly fate: Fate;
  readonly text: string;
}

/** A reference of Kafka Connect to a value that its workers look up: `${provider:path:key}`. */
const providerReference = /\$\{([^:}]{1,100}):(?:([^}]{0,1000}):)?([^:}]{0,1000})\}/g;

/**
 * The options of a connector, by name. Who reads one takes it; those that nobody takes are left and told. Values of secrets leave it only as
 * names of environment variables.
 */
export class ConnectorOptions {
  /** What it is called. */
  readonly name: string;
  readonly className: string;
  readonly #values: ReadonlyMap<string, string>;
  readonly #taken = new Set<string>();
  readonly #notes: OptionNote[] = [];
  readonly #variables = new Map<string, string>();

  constructor(parts: { readonly name: string; readonly className: string; readonly values: ReadonlyMap<string, string> }) {
    this.name = parts.name;
    this.className = parts.className;
    this.#values = parts.values;
  }

  /** The text of an option; `undefined` where it is not set, or empty. */
  take(option: string): string | undefined {
    if (this.#values.has(option)) this.#taken.add(option);
    const text = this.#values.get(option)?.trim();
    return text === '' ? undefined : text;
  }

  takeList(option: string): readonly string[] {
    return listOf(this.take(option) ?? '');
  }

  /** `undefined` where it is not set. */
  takeSwitch(option: string): boolean | undefined {
    const text = this.take(option)?.toLowerCase();
    return text === undefined ? undefined : text === 'true';
  }

  /** A whole number that is not negative; what else is written is told. */
  takeNumber(option: string): number | undefined {
    const text = this.take(option);
    if (text === undefined) return undefined;
    if (/^\d{1,15}$/.test(text)) return Number(text);
    this.note(option, 'doubtful', 'is no whole number, and was left out');
    return undefined;
  }

  /** All options whose names begin so and nobody has taken, without their beginning. */
  takeBelow(prefix: string): readonly (readonly [rest: string, text: string])[] {
    return [...this.#values].flatMap(([option, text]) => {
      if (!option.startsWith(prefix) || option.length === prefix.length || this.#taken.has(option)) return [];
      this.#taken.add(option);
      return [[option.slice(prefix.length), text.trim()] as const];
    });
  }

  /** Takes what the rules name and is left, and notes what they say. */
  settle(rules: readonly FateRule[]): void {
    for (const { name, fate, text } of rules) {
      const named = name.endsWith('*') ? this.takeBelow(name.slice(0, -1)).map(([rest]) => name.slice(0, -1) + rest) : [name];
      for (const option of named) {
        if (!this.#values.has(option) || (named.length === 1 && option === name && this.#taken.has(option))) continue;
        this.#taken.add(option);
        this.note(option, fate, text);
      }
    }
  }

  note(option: string, fate: Fate, text: string): void {
    this.#notes.push({ option, fate, text });
  }

  /** The value of an option as the file has it: a secret as the name of a variable. */
  shown(option: string, text: string): YamlScalar {
    if (isSecretName(option) || withoutSecrets(text) !== text) return this.secret(option, text);
    if (!text.includes('${')) return text;
    let found = 0;
    const reference = text.replaceAll(/\$\{[^}]{0,2000}\}|\$\{/g, (part) => {
      const [whole, provider = '', path = '', key = ''] = [...part.matchAll(providerReference)][0] ?? [];
      if (whole === undefined) return part.replace('${', () => '$${');
      found += 1;
      return this.#looked({ provider, path, key, variable: `${variableName(option)}${found === 1 ? '' : `_${found}`}`, option });
    });
    return found === 0 ? text : { reference };
  }

  /** A reference to the variable that is to hold a secret. */
  secret(option: string, text: string, suffix = ''): YamlScalar {
    const [whole, provider = '', path = '', key = ''] = [...text.matchAll(providerReference)][0] ?? [];
    const variable = variableName(option) + suffix;
    if (whole !== undefined && whole === text) return { reference: this.#looked({ provider, path, key, variable, option }) };
    return this.variable(variable, option);
  }

  /** A reference to a variable that whoever uses the file has to set. */
  variable(name: string, why: string): YamlScalar {
    this.#variables.set(name, why);
    return { reference: `\${${name}}` };
  }

  get notes(): readonly OptionNote[] {
    return this.#notes;
  }

  /** Variables that the file refers to, and what for. */
  get variables(): ReadonlyMap<string, string> {
    return this.#variables;
  }

  /** Options that somebody has taken. */
  get taken(): readonly string[] {
    return [...this.#taken];
  }

  /** Options that nobody has taken. */
  get left(): readonly string[] {
    return [...this.#values.keys()].filter((option) => !this.#taken.has(option));
  }

  #looked(parts: {
    readonly provider: string;
    readonly path: string;
    readonly key: string;
    readonly variable: string;
    readonly option: string;
  }): string {
    const { provider, path, key, variable, option } = parts;
    if (provider === 'directory' && path !== '') return `\${file:${path.replace(/\/$/, '')}/${key}}`;
    const own = provider === 'env' && /^[A-Za-z_]\w*$/.test(key) ? key : variable;
    this.#variables.set(own, option);
    return `\${${own}}`;
  }
}

export function listOf(text: string): readonly string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function variableName(option: string): string {
  const name = option.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_');
  return /^\d/.test(name) ? `_${name}` : name;
}
