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

export interface StartFacts {
  /** The table's mark for this partition of this incarnation of the topic. */
  readonly mark: bigint | undefined;
  /** The table has a mark of another incarnation: the topic was deleted and created again, or the cluster is another one. */
  readonly otherIncarnation: boolean;
  /** The topic holds `[earliest, latest)`. */
  readonly earliest: bigint;
  readonly latest: bigint;
  readonly startFrom: StartFrom;
  readonly policy: DiscontinuityPolicy;
}

export type StartDecision =
  | { readonly kind: 'start'; readonly offset: bigint; readonly expectedMark: bigint | undefined }
  | { readonly kind: 'discontinuity'; readonly detail: string };

/** Where to start reading a partition: at the table's mark, and never silently anywhere else. */
export function decideStart(facts: StartFacts): StartDecision {
  const { mark, earliest, latest } = facts;
  if (mark === undefined && !facts.otherIncarnation) {
    return { kind: 'start', offset: facts.startFrom === 'earliest' ? earliest : latest, expectedMark: undefined };
  }
  if (mark !== undefined && earliest <= mark && mark <= latest) return { kind: 'start', offset: mark, expectedMark: mark };
  if (facts.policy === 'fail') return { kind: 'discontinuity', detail: describeDiscontinuity(facts) };
  return { kind: 'start', offset: chosenOffset(facts, facts.policy), expectedMark: mark };
}

function chosenOffset({ mark, earliest, latest }: StartFacts, policy: Exclude<DiscontinuityPolicy, 'fail'>): bigint {
  switch (policy) {
    case 'reset-to-earliest':
      return earliest;
    case 'reset-to-latest':
      return latest;
    case 'accept':
      return mark !== undefined && mark > latest ? latest : earliest;
  }
}

function describeDiscontinuity({ mark, earliest, latest }: StartFacts): string {
  const held = `the topic holds offsets ${earliest} until ${latest}`;
  if (mark === undefined)
    return `the table's offsets belong to another incarnation of the topic (deleted and created again, or another cluster); ${held}`;
  if (mark < earliest)
    return `the table's next offset is ${mark}, but ${held}: ${earliest - mark} records were removed before they were read`;
  return `the table's next offset is ${mark}, but ${held}: the topic lost its end`;
}
