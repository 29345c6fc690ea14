import { partitionPoint } from '../../base/partition-point.ts';
import type { ColumnFacts, FileFacts } from './file-facts.ts';
import { type Comparison, compareOrdered, type Ordered } from './ordered-values.ts';
import { alwaysNull, anyOutcome, type Outcome, orNull } from './outcome.ts';

export type Relation = '=' | '<' | '<=' | '>' | '>=';

/** The least and greatest value a file's column may have, in the form of a comparison; a text bound may be a prefix only. */
interface Range {
  readonly min: Ordered | undefined;
  readonly max: Ordered | undefined;
  readonly truncated: boolean;
}

/** What `column relation value` may give in a file. */
export function compareColumn(facts: ColumnFacts | undefined, file: FileFacts, relation: Relation, comparison: Comparison): Outcome {
  if (facts === undefined) return anyOutcome;
  if (hasNoValue(facts, file)) return alwaysNull;
  const range = rangeOf(facts, comparison);
  return orNull(compareRange(range, relation, comparison.value), facts.nullCount !== 0);
}

/** What `column IN (values)` may give; the values ascending and of one form. */
export function columnIn(facts: ColumnFacts | undefined, file: FileFacts, values: readonly Ordered[], comparison: Comparison): Outcome {
  if (facts === undefined) return anyOutcome;
  if (hasNoValue(facts, file)) return alwaysNull;
  const range = rangeOf(facts, comparison);
  const at = range.min === undefined ? 0 : firstAtLeast(values, range.min);
  const candidate = values[at];
  const within = candidate !== undefined && !isAbove(candidate, range);
  const single = within && isExactly(range, candidate);
  return { mayBeTrue: within, mayBeFalse: !single, mayBeNull: facts.nullCount !== 0 };
}

/** What `column LIKE 'prefix…'` may give. */
export function columnStartsWith(facts: ColumnFacts | undefined, file: FileFacts, prefix: string): Outcome {
  if (facts === undefined) return anyOutcome;
  if (hasNoValue(facts, file)) return alwaysNull;
  const { min, max } = facts;
  const allBelow = typeof max === 'string' && compareOrdered(max, prefix) < 0 && !(facts.mayBeTruncated === true && prefix.startsWith(max));
  const allAbove = typeof min === 'string' && compareOrdered(min, prefix) > 0 && !min.startsWith(prefix);
  return { mayBeTrue: !allBelow && !allAbove, mayBeFalse: true, mayBeNull: facts.nullCount !== 0 };
}

/** What `column IS NULL` may give. */
export function columnIsNull(facts: ColumnFacts | undefined, file: FileFacts): Outcome {
  if (facts === undefined) return { ...anyOutcome, mayBeNull: false };
  const noValue = hasNoValue(facts, file);
  return { mayBeTrue: noValue || facts.nullCount !== 0, mayBeFalse: !noValue, mayBeNull: false };
}

/** What a truth-valued column may itself be. */
export function booleanColumn(facts: ColumnFacts | undefined, file: FileFacts): Outcome {
  if (facts === undefined) return anyOutcome;
  if (hasNoValue(facts, file)) return alwaysNull;
  return { mayBeTrue: facts.max !== false, mayBeFalse: facts.min !== true, mayBeNull: facts.nullCount !== 0 };
}

function hasNoValue(facts: ColumnFacts, file: FileFacts): boolean {
  return facts.allNull === true || (file.rowCount !== undefined && facts.nullCount === file.rowCount);
}

function rangeOf(facts: ColumnFacts, comparison: Comparison): Range {
  const min = facts.min === undefined ? undefined : comparison.form(facts.min);
  const max = facts.max === undefined ? undefined : comparison.form(facts.max);
  return { min, max, truncated: facts.mayBeTruncated === true };
}

function compareRange(range: Range, relation: Relation, value: Ordered): Outcome {
  const { min, max } = range;
  const below = min !== undefined && compareOrdered(value, min) < 0;
  const above = isAbove(value, range);
  switch (relation) {
    case '=':
      return { mayBeTrue: !below && !above, mayBeFalse: !isExactly(range, value), mayBeNull: false };
    case '<':
      // Some value below: unless the least is not.
      return { mayBeTrue: min === undefined || compareOrdered(min, value) < 0, mayBeFalse: !above, mayBeNull: false };
    case '<=':
      return { mayBeTrue: !below, mayBeFalse: mayExceed(range, value), mayBeNull: false };
    case '>':
      return { mayBeTrue: mayExceed(range, value), mayBeFalse: !below, mayBeNull: false };
    case '>=':
      return { mayBeTrue: max === undefined || !above, mayBeFalse: min === undefined || compareOrdered(min, value) < 0, mayBeNull: false };
  }
}

/** Whether a value is certainly greater than all. A cut bound stands for every text that begins with it. */
function isAbove(value: Ordered, { max, truncated }: Range): boolean {
  if (max === undefined || compareOrdered(value, max) <= 0) return false;
  return !(truncated && typeof value === 'string' && typeof max === 'string' && value.startsWith(max));
}

/** Whether some value may be greater. */
function mayExceed({ max, truncated }: Range, value: Ordered): boolean {
  if (max === undefined || compareOrdered(max, value) > 0) return true;
  return truncated && typeof value === 'string' && typeof max === 'string' && value.startsWith(max);
}

function isExactly({ min, max, truncated }: Range, value: Ordered): boolean {
  return !truncated && min !== undefined && max !== undefined && compareOrdered(min, value) === 0 && compareOrdered(max, value) === 0;
}

function firstAtLeast(values: readonly Ordered[], bound: Ordered): number {
  return partitionPoint(0, values.length, (index) => {
    const candidate = values[index];
    return candidate !== undefined && compareOrdered(candidate, bound) < 0;
  });
}
