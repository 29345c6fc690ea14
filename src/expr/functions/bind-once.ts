/**
 * SQL that computes a value once and may mention it often.
 *
 * @param name of the value inside; no value that mentions another's name may be bound under the same one.
 */
export function bindOnce(value: string, name: string, body: (reference: string) => string): string {
  return `(list_transform([${value}], lambda "${name}": ${body(`"${name}"`)})[1])`;
}
