/** What JSON holds here: integers beyond 2^53 are `bigint` (`parseJson`). */
export type JsonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue | undefined };
export type JsonObject = { readonly [key: string]: JsonValue | undefined };

type Scalar = null | boolean | number | bigint | string | undefined;
/** What has a JSON as it stands: scalars, lists and records of such. */
type Facts<T> = T extends Scalar ? T : T extends (...given: never) => unknown ? never : { readonly [K in keyof T]: Facts<T[K]> };

/** Facts under their own names as JSON: what is `undefined` is null, so that a program finds each of them. */
export function factsJson<T extends object>(facts: T & Facts<T>): JsonObject {
  return recordJson(facts);
}

function recordJson(facts: object): JsonObject {
  return Object.fromEntries(Object.entries(facts).map(([name, fact]: [string, unknown]) => [name, factJson(fact)]));
}

function factJson(fact: unknown): JsonValue {
  if (Array.isArray(fact)) return fact.map(factJson);
  return typeof fact === 'object' && fact !== null ? recordJson(fact) : ((fact ?? null) as JsonValue);
}
