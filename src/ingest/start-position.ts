/** What to do when the stored offset does not fit what the topic holds. */
export type DiscontinuityPolicy =
  /** Do not read the partition until an operator decides. */
  | 'fail'
  /** Read everything the topic holds, however much of it the table has already. */
  | 'reset-to-earliest'
  /** Read only what comes from now on. */
  | 'reset-to-latest'
  /** Go on at the stored offset where the topic has it, else at its nearest end. */
  | 'accept';

export type StartFrom = 'earliest' | 'latest';

/** What the table knows of a partition that it has no mark of. */
export type Unmarked =
  /** Nothing of the topic at all: it is read for the first time. */
  | 'new-topic'
  /** Nothing of the topic either, but this process saw it missing: all it holds came since. */
  | 'awaited-topic'
  /** Marks of other partitions of this incarnation: the partition was added since. */
  | 'added-partition'
  /** Marks of another incarnation: the topic was deleted and created again, or the cluster is another one. */
  | 'other-incarnation';

export interface StartFacts {
  /** The table's mark for this partition of this incarnation of the topic, or why there is none. */
  readonly mark: bigint | Unmarked;
  /** The topic holds `[earliest, latest)`. */
  readonly earliest: bigint;
  readonly latest: bigint;
  readonly startFrom: StartFrom;
  readonly policy: DiscontinuityPolicy;
}

export type StartDecision =
  | {
      readonly kind: 'start';
      readonly offset: bigint;
      readonly expectedMark: bigint | undefined;
      /** Made again later it would be another: it has to be in the table before anything is read. */
      readonly settleFirst: boolean;
    }
  | { readonly kind: 'discontinuity'; readonly detail: string };

/** Where to start reading a partition: at the table's mark, and never silently anywhere else. */
export function decideStart(facts: StartFacts): StartDecision {
  const { mark, earliest, latest, policy } = facts;
  if (mark === 'added-partition') return { kind: 'start', offset: earliest, expectedMark: undefined, settleFirst: false };
  if (mark === 'awaited-topic') {
    // Who did not see it missing would take its end for the place to begin.
    return { kind: 'start', offset: earliest, expectedMark: undefined, settleFirst: facts.startFrom === 'latest' };
  }
  if (mark === 'new-topic') {
    const fromEnd = facts.startFrom === 'latest';
    return { kind: 'start', offset: fromEnd ? latest : earliest, expectedMark: undefined, settleFirst: fromEnd };
  }
  if (mark !== 'other-incarnation' && earliest <= mark && mark <= latest) {
    return { kind: 'start', offset: mark, expectedMark: mark, settleFirst: false };
  }
  if (policy === 'fail') return { kind: 'discontinuity', detail: describeDiscontinuity(mark, facts) };
  const expectedMark = mark === 'other-incarnation' ? undefined : mark;
  return { kind: 'start', offset: chosenOffset(expectedMark, facts, policy), expectedMark, settleFirst: true };
}

function chosenOffset(mark: bigint | undefined, { earliest, latest }: StartFacts, policy: Exclude<DiscontinuityPolicy, 'fail'>): bigint {
  switch (policy) {
    case 'reset-to-earliest':
      return earliest;
    case 'reset-to-latest':
      return latest;
    case 'accept':
      return mark !== undefined && mark > latest ? latest : earliest;
  }
}

function describeDiscontinuity(mark: bigint | 'other-incarnation', { earliest, latest }: StartFacts): string {
  const held = `the topic holds offsets ${earliest} until ${latest}`;
  if (mark === 'other-incarnation')
    return `the table's offsets belong to another incarnation of the topic (deleted and created again, or another cluster); ${held}`;
  if (mark < earliest)
    return `the table's next offset is ${mark}, but ${held}: ${earliest - mark} records were removed before they were read`;
  return `the table's next offset is ${mark}, but ${held}: the topic lost its end`;
}
