/** Sets a member under any name: one named like the prototype's slot becomes a member, not the prototype. */
export function setMember<T>(row: Record<string, T>, name: string, value: T): void {
  if (name === '__proto__') Object.defineProperty(row, name, { value, enumerable: true, writable: true, configurable: true });
  else row[name] = value;
}
