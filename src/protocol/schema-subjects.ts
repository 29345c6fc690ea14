import type { SchemaText } from './payload-encoding.ts';

/** A schema as it is given to a registry. */
export type NewSchema = Pick<SchemaText, 'type' | 'text'>;

export type RegisteredAs =
  | { readonly kind: 'registered'; readonly id: number }
  /** The subject's rules allow no such schema behind the ones it has, or the registry cannot read it. */
  | { readonly kind: 'refused'; readonly reason: string };

/** The subjects of a registry with Confluent's API. All methods may be called again, and throw what is `unavailable` or `aborted`. */
export interface SchemaSubjects {
  /** Registers the schema; one that the subject has keeps its number. */
  register(subject: string, schema: NewSchema, signal?: AbortSignal): Promise<RegisteredAs>;
  /** The number of the schema in the subject; `undefined`: it does not have it. */
  find(subject: string, schema: NewSchema, signal?: AbortSignal): Promise<number | undefined>;
  /** The newest schema of the subject; `undefined`: there is none. */
  latest(subject: string, signal?: AbortSignal): Promise<(NewSchema & { readonly id: number }) | undefined>;
  /** Why the subject would refuse the schema; `undefined`: it would not. Registers nothing. */
  refusal(subject: string, schema: NewSchema, signal?: AbortSignal): Promise<string | undefined>;
}
