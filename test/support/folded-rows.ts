/** What a reader of a feed has in the end, as sorted texts, who removes exactly the rows that images before a change tell of. */
export function foldedRows<Change extends Readonly<Record<string, unknown>>>(
  changes: readonly Change[],
  textOf: (row: Change) => string,
): readonly string[] {
  const rows: string[] = [];
  for (const change of changes) {
    const text = textOf(change);
    const type = change['_change_type'];
    if (type === 'insert' || type === 'update_postimage') {
      rows.push(text);
      continue;
    }
    const at = rows.indexOf(text);
    if (at < 0) throw new Error(`the feed takes away a row that is not there: ${text}`);
    rows.splice(at, 1);
  }
  return rows.toSorted();
}
