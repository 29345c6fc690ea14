/** The ways in which old rows of a keyed table end, and are told of: format, what a test calls it, and the line of the table that chooses it. */
export const keyedVariants = [
  ['delta', 'with deletion vectors', 'properties: {}'],
  ['delta', 'without deletion vectors', 'properties: { delta.enableDeletionVectors: "false" }'],
  ['iceberg', 'with position deletes', 'properties: {}'],
  ['iceberg', 'with deletion vectors', 'properties: { format-version: "3" }'],
  ['iceberg', 'copy-on-write', 'properties: { write.merge.mode: copy-on-write }'],
  ['delta', 'without stored images', 'changeImages: derived'],
] as const;
