import { sqlText } from '../sql/engine-text.ts';

/** A function of the engine, beside its own: TRUE for a size that may be made, an error else. Takes size, name and unit; see `complaintOfSizes`. */
export const mayMakeFunction = 'tidewater_may_make';

export type GeneratedUnit = 'elements' | 'bytes';

/** Longest list and text (in bytes) that one call makes: the engine does not count what its functions build in its memory limit. */
export const maxGenerated: Readonly<Record<GeneratedUnit, number>> = { elements: 4 * 1024 * 1024, bytes: 64 * 1024 * 1024 };
/** The same for the rows that the engine computes at a time, which it holds together. */
export const maxGeneratedTogether: Readonly<Record<GeneratedUnit, number>> = { elements: 32 * 1024 * 1024, bytes: 1024 * 1024 * 1024 };
/** Smaller results are not asked about: all of those together stay below the bounds. */
const unasked: Readonly<Record<GeneratedUnit, number>> = { elements: 4 * 1024, bytes: 64 * 1024 };

/**
 * SQL of an argument that makes a result grow: an error in its place where the result would be too large. It stands in the argument, because
 * the engine computes a call of constants before it looks at what is around it.
 *
 * @param argument.size SQL of the size that it leads to.
 */
export function boundedArgument(name: string, unit: GeneratedUnit, argument: { readonly sql: string; readonly size: string }): string {
  const asked = `${mayMakeFunction}(CAST(${argument.size} AS DOUBLE), ${sqlText(name)}, ${sqlText(unit)})`;
  return `CASE WHEN CASE WHEN ${argument.size} > ${unasked[unit]} THEN ${asked} ELSE true END THEN ${argument.sql} END`;
}

/** Why results of these sizes may not be made; `undefined`: they may. `sizes`: of the rows that the engine computes at a time. */
export function complaintOfSizes(sizes: Float64Array, name: string, unit: GeneratedUnit): string | undefined {
  const largest = sizes.reduce((left, right) => Math.max(left, right), 0);
  const together = sizes.reduce((sum, size) => sum + size, 0);
  const refused = `[COLLECTION_SIZE_LIMIT_EXCEEDED.FUNCTION] The function ${name} would make`;
  if (largest > maxGenerated[unit]) return `${refused} ${largest} ${unit}, at most ${maxGenerated[unit]} are made`;
  if (together <= maxGeneratedTogether[unit]) return undefined;
  return `${refused} ${together} ${unit} in ${sizes.length} rows at a time, at most ${maxGeneratedTogether[unit]} are made`;
}
