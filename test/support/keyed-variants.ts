/** The ways in which old rows of a keyed table end: format, what a test calls it, and the properties that choose it. */
export const keyedVariants = [
  ['delta', 'with deletion vectors', '{}'],
  ['delta', 'without deletion vectors', '{ delta.enableDeletionVectors: "false" }'],
  ['iceberg', 'with position deletes', '{}'],
  ['iceberg', 'with deletion vectors', '{ format-version: "3" }'],
  ['iceberg', 'copy-on-write', '{ write.merge.mode: copy-on-write }'],
] as const;
