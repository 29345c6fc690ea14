import { elementsOf, membersOf, type VariantBytes, type VariantPart } from './fold-variant.ts';

const steps = /\.([^.[\]'"]+)|\[(\d{1,9})\]|\['([^']*)'\]|\["([^"]*)"\]/y;

/** The names and places of a path such as `$.a[0]['b c']`; `undefined` for text that is none. */
export function variantPath(text: string): readonly (string | number)[] | undefined {
  if (!text.startsWith('$')) return undefined;
  const path: (string | number)[] = [];
  steps.lastIndex = 1;
  let at = 1;
  for (let match = steps.exec(text); match !== null; match = steps.exec(text)) {
    const [, name, place, single, double] = match;
    path.push(place === undefined ? (name ?? single ?? double ?? '') : Number(place));
    at = steps.lastIndex;
  }
  return at === text.length ? path : undefined;
}

/** What lies at a path, as a variant with the same dictionary; `undefined`: nothing does. */
export function variantAt(bytes: VariantBytes, path: readonly (string | number)[]): VariantBytes | undefined {
  let part: VariantPart | undefined = { bytes, at: 0 };
  for (const step of path) {
    if (part === undefined) return undefined;
    part = typeof step === 'number' ? elementsOf(part)?.[step] : membersOf(part)?.find(([name]) => name === step)?.[1];
  }
  return part === undefined ? undefined : { metadata: bytes.metadata, value: bytes.value.subarray(part.at) };
}
