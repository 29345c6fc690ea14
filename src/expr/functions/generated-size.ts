import { sqlText } from '../sql/engine-text.ts';

/** Longest list and text (in bytes) that one call makes: the engine does not count what its functions build in its memory limit. */
export const maxGenerated: Readonly<Record<'elements' | 'bytes', number>> = { elements: 4 * 1024 * 1024, bytes: 64 * 1024 * 1024 };

/**
 * SQL of an argument that makes a result grow: an error in its place where the result would be too large. It stands in the argument, because
 * the engine computes a call of constants before it looks at what is around it.
 *
 * @param argument.size SQL of the size that it leads to.
 */
export function boundedArgument(
  name: string,
  unit: keyof typeof maxGenerated,
  argument: { readonly sql: string; readonly size: string },
): string {
  const limit = maxGenerated[unit];
  const before = sqlText(`[COLLECTION_SIZE_LIMIT_EXCEEDED.FUNCTION] The function ${name} would make `);
  const message = `${before} || CAST(${argument.size} AS VARCHAR) || ${sqlText(` ${unit}, at most ${limit} are made`)}`;
  return `CASE WHEN ${argument.size} > ${limit} THEN error(${message}) ELSE ${argument.sql} END`;
}
