/** `database.table`; the namespace may have several parts. */
export interface TableIdent {
  readonly namespace: readonly string[];
  readonly name: string;
}

export function partsOf({ namespace, name }: TableIdent): readonly string[] {
  return [...namespace, name];
}

/** How a change of names ended; `absent`: what it is about is not there, `exists`: the name is taken. */
export type NameChange = 'done' | 'absent' | 'exists';
