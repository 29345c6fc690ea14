/** The truth values that rows of a file may give; a superset of those they do give. */
export interface Outcome {
  readonly mayBeTrue: boolean;
  readonly mayBeFalse: boolean;
  readonly mayBeNull: boolean;
}

export const anyOutcome: Outcome = { mayBeTrue: true, mayBeFalse: true, mayBeNull: true };
export const alwaysNull: Outcome = { mayBeTrue: false, mayBeFalse: false, mayBeNull: true };

export function constantOutcome(value: boolean | undefined): Outcome {
  return { mayBeTrue: value === true, mayBeFalse: value === false, mayBeNull: value === undefined };
}

export function notOutcome({ mayBeTrue, mayBeFalse, mayBeNull }: Outcome): Outcome {
  return { mayBeTrue: mayBeFalse, mayBeFalse: mayBeTrue, mayBeNull };
}

/** Three-valued AND: false beats null, null beats true. */
export function andOutcome(left: Outcome, right: Outcome): Outcome {
  return {
    mayBeTrue: left.mayBeTrue && right.mayBeTrue,
    mayBeFalse: left.mayBeFalse || right.mayBeFalse,
    mayBeNull: (left.mayBeNull && (right.mayBeNull || right.mayBeTrue)) || (right.mayBeNull && left.mayBeTrue),
  };
}

export function orOutcome(left: Outcome, right: Outcome): Outcome {
  return notOutcome(andOutcome(notOutcome(left), notOutcome(right)));
}

/** The same outcome where rows may also lack a value, which makes it null. */
export function orNull(outcome: Outcome, mayBeNull: boolean): Outcome {
  return mayBeNull ? { ...outcome, mayBeNull: true } : outcome;
}
