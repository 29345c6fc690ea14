/** The id of a column of a file without ids, by its names from the root; `element`, `key` and `value` inside lists and maps. */
export type NameToId = (path: readonly string[]) => number | undefined;
