/** What an event consists of: its schema and its bytes are made from this. Everything but rows and ordinals is the same for all events of a kind. */
export interface EventShape {
  /** Dotted; `undefined` where no schema is made of it. */
  readonly name?: string | undefined;
  readonly version?: number | undefined;
  /** The columns of the row come first. */
  readonly hasRow: boolean;
  readonly members: readonly EventMember[];
}

export interface EventMember {
  readonly name: string;
  /** Where fields have numbers. Default: its place. */
  readonly number?: number | undefined;
  /** It can be null. Images can, whatever this says. Default: false. */
  readonly optional?: boolean | undefined;
  readonly part: EventPart;
}

export type EventPart =
  | { readonly kind: 'text'; readonly value: string }
  /** Text whose meaning a schema names; of version 1. */
  | { readonly kind: 'named-text'; readonly value: string; readonly name: string }
  | { readonly kind: 'long'; readonly value: number }
  | { readonly kind: 'boolean'; readonly value: boolean }
  /** Number of the row in its version. */
  | { readonly kind: 'ordinal' }
  /** Number of the event in its version, from 1. */
  | { readonly kind: 'event-number' }
  /** Text that ends with it; in JSON without a schema only. */
  | { readonly kind: 'text-and-ordinal'; readonly value: string }
  /** The row before or behind the change, null where there is none. */
  | { readonly kind: 'image'; readonly image: 'before' | 'after' }
  | ({ readonly kind: 'struct' } & EventShape)
  /** Null, of a member that can be `of`. */
  | { readonly kind: 'none'; readonly of: EventPart };
