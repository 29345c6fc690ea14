/** As long as the name, so that it can become the name in the bytes of a file. */
export function standIn(name: string): string {
  return `${name.slice(0, -1)}\u0001`;
}

/** No writer gives two columns one name, but bytes can. The schema that ours leaves for readers of its kind would tell, and goes. */
export function withTwin(bytes: Uint8Array, name: string): Uint8Array {
  const text = Buffer.from(bytes).toString('latin1');
  return Buffer.from(text.replaceAll(standIn(name), name).replace('ARROW:schema', 'ARROW:schemx'), 'latin1');
}
