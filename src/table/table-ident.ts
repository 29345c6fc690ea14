/** `database.table`; the namespace may have several parts. */
export interface TableIdent {
  readonly namespace: readonly string[];
  readonly name: string;
}

export function partsOf({ namespace, name }: TableIdent): readonly string[] {
  return [...namespace, name];
}
