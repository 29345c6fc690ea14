/**
 * The outcomes a condition may have on the rows of a file, as a set: with three-valued logic a condition is true, false or null, and what
 * is known of a file leaves one or several of them possible.
 */
export type Truth = number;

export const canBeTrue: Truth = 1;
export const canBeFalse: Truth = 2;
export const canBeNull: Truth = 4;
/** Nothing is known. */
export const anything: Truth = 7;

export function both(left: Truth, right: Truth): Truth {
  const whenTrue = left & right & canBeTrue;
  const whenFalse = (left | right) & canBeFalse;
  // Null unless the other side decides.
  const whenNull = (left & canBeNull && right & (canBeTrue | canBeNull)) || (right & canBeNull && left & (canBeTrue | canBeNull));
  return whenTrue | whenFalse | (whenNull ? canBeNull : 0);
}

export function either(left: Truth, right: Truth): Truth {
  return inverse(both(inverse(left), inverse(right)));
}

export function inverse(truth: Truth): Truth {
  return (truth & canBeNull) | (truth & canBeTrue ? canBeFalse : 0) | (truth & canBeFalse ? canBeTrue : 0);
}
