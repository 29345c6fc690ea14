import { isServiceError, type ServiceError, serviceError } from '../base/errors.ts';
import type { KafkaAdmin, PartitionOffsets, TopicPartition } from '../kafka/client.ts';
import type { BatchRange } from '../protocol/sealed-batch.ts';
import { parseWriterId, type SourceIdentity, writerIdOf } from '../protocol/source-offsets.ts';
import { type DiscontinuityPolicy, decideStart, type StartFrom, type Unmarked } from './start-position.ts';

/** A partition that is not read until an operator decides. */
export interface Discontinuity extends TopicPartition {
  readonly detail: string;
}

export interface ReadFrom extends TopicPartition {
  readonly offset: bigint;
  /** Records that the topic holds from there on. */
  readonly lag: bigint;
  /** The incarnation of the topic that the position was decided for, and the name of the partition's mark there. */
  readonly topicId: string;
  readonly writerId: string;
  readonly expectedMark: bigint | undefined;
}

export interface StartPlan {
  readonly positions: readonly ReadFrom[];
  readonly discontinuities: readonly Discontinuity[];
  /** Partitions whose topic, or which themselves, were not there when asked for, and those that nobody can say the beginning of yet. */
  readonly absent: readonly TopicPartition[];
  /** Marks that must be in the table before anything is read; the plan is made anew then. */
  readonly settleFirst: readonly BatchRange[];
}

export interface StartPlanOptions {
  readonly admin: KafkaAdmin;
  readonly partitions: readonly TopicPartition[];
  /** The table's marks of this pipeline. */
  readonly marks: ReadonlyMap<string, bigint>;
  /** What the topic is now; `undefined` when it does not exist. */
  readonly identityOf: (topic: string) => Promise<SourceIdentity | undefined>;
  readonly policy: DiscontinuityPolicy;
  readonly startFrom: StartFrom;
  /** Read from their beginning whatever `startFrom` says: what is in them was put there for the tables. */
  readonly quietTopics?: readonly string[] | undefined;
  /** Topics that were not there when others were: this process has seen them missing, or the table has marks of others that match. */
  readonly awaited: Pick<ReadonlySet<string>, 'has'>;
  /**
   * Where a partition begins that the table has no mark of, instead of what `startFrom` says; `undefined`: nobody can say yet. Not asked of quiet
   * topics.
   */
  readonly startAt?: ((at: TopicPartition, topicId: string) => bigint | undefined) | undefined;
}

/** Decides for each assigned partition where reading starts, from the table's marks and what the topics hold. */
export async function planStart(options: StartPlanOptions): Promise<StartPlan> {
  const plan = {
    positions: [] as ReadFrom[],
    discontinuities: [] as Discontinuity[],
    absent: [] as TopicPartition[],
    settleFirst: [] as BatchRange[],
  };
  for (const topic of new Set(options.partitions.map((partition) => partition.topic))) {
    const assigned = new Set(options.partitions.filter((each) => each.topic === topic).map(({ partition }) => partition));
    const known = await knownTopic(options, topic);
    const present = new Set(known?.held.map(({ partition }) => partition));
    for (const partition of assigned) if (!present.has(partition)) plan.absent.push({ topic, partition });
    if (known === undefined) continue;
    const marks = topicMarks(options.marks, known.identity, options.awaited.has(topic));
    for (const offsets of known.held) planPartition(plan, { options, identity: known.identity, marks, offsets, assigned });
  }
  return plan;
}

interface PlanInProgress {
  readonly absent: TopicPartition[];
  readonly positions: ReadFrom[];
  readonly discontinuities: Discontinuity[];
  readonly settleFirst: BatchRange[];
}

function planPartition(
  plan: PlanInProgress,
  about: {
    readonly options: StartPlanOptions;
    readonly identity: SourceIdentity;
    readonly marks: TopicMarks;
    readonly offsets: PartitionOffsets;
    readonly assigned: ReadonlySet<number>;
  },
): void {
  const { options, identity, marks, offsets } = about;
  const { topic, partition, earliest, latest } = offsets;
  const isAssigned = about.assigned.has(partition);
  const mark = markOf(marks, partition);
  if (options.startAt !== undefined && isUnread(mark) && options.quietTopics?.includes(topic) !== true) {
    if (isAssigned) planFirst(plan, { identity, partition, latest, offset: options.startAt({ topic, partition }, identity.topicId) });
    return;
  }
  // Where a topic begins is decided for all its partitions at once, whoever reads them: a partition without a mark was added since.
  if (!isAssigned && typeof mark === 'bigint') return;
  const startFrom = options.quietTopics?.includes(topic) === true ? 'earliest' : options.startFrom;
  const decision = decideStart({ mark, earliest, latest, policy: options.policy, startFrom });
  if (decision.kind === 'discontinuity') {
    if (isAssigned) plan.discontinuities.push({ topic, partition, detail: decision.detail });
    return;
  }
  const { offset, expectedMark } = decision;
  const writerId = writerIdOf(identity, partition);
  if (decision.settleFirst) plan.settleFirst.push({ topic, partition, from: offset, until: offset, expectedMark, writerId });
  if (isAssigned)
    plan.positions.push({ topic, partition, offset, lag: latest - offset, topicId: identity.topicId, writerId, expectedMark });
}

function isUnread(mark: bigint | Unmarked): boolean {
  return typeof mark !== 'bigint' && mark !== 'other-incarnation';
}

/** A partition whose first mark somebody else knows; it is in the table before anything is read. */
function planFirst(
  plan: PlanInProgress,
  {
    identity,
    partition,
    latest,
    offset,
  }: { readonly identity: SourceIdentity; readonly partition: number; readonly latest: bigint; readonly offset: bigint | undefined },
): void {
  const { topic, topicId } = identity;
  if (offset === undefined) plan.absent.push({ topic, partition });
  else {
    const writerId = writerIdOf(identity, partition);
    plan.settleFirst.push({ topic, partition, from: offset, until: offset, expectedMark: undefined, writerId });
    plan.positions.push({ topic, partition, offset, lag: latest - offset, topicId, writerId, expectedMark: undefined });
  }
}

/** Offsets and the incarnation they belong to: it was the same before they were asked for and after. */
export async function knownTopic(
  { admin, identityOf }: Pick<StartPlanOptions, 'admin' | 'identityOf'>,
  topic: string,
): Promise<{ readonly identity: SourceIdentity; readonly held: readonly PartitionOffsets[] } | undefined> {
  const identity = await identityOf(topic);
  if (identity === undefined) return undefined;
  try {
    const held = await admin.offsets(topic);
    const after = await identityOf(topic);
    return after?.topicId === identity.topicId && after.clusterId === identity.clusterId ? { identity, held } : undefined;
  } catch (error) {
    if (isServiceError(error, 'not-found')) return undefined;
    throw error;
  }
}

interface TopicMarks {
  /** Of the present incarnation, by partition. */
  readonly present: ReadonlyMap<number, bigint>;
  /** Partitions that have marks of another. */
  readonly others: ReadonlySet<number>;
  /** Why a topic without any has none. */
  readonly none: 'new-topic' | 'awaited-topic';
}

function topicMarks(marks: ReadonlyMap<string, bigint>, identity: SourceIdentity, isAwaited: boolean): TopicMarks {
  const present = new Map<number, bigint>();
  const others = new Set<number>();
  for (const [writerId, mark] of marks) {
    const source = parseWriterId(writerId, identity.pipeline);
    if (source?.topic !== identity.topic) continue;
    if (source.clusterId === identity.clusterId && source.topicId === identity.topicId) present.set(source.partition, mark);
    else others.add(source.partition);
  }
  return { present, others, none: isAwaited ? 'awaited-topic' : 'new-topic' };
}

function markOf({ present, others, none }: TopicMarks, partition: number): bigint | Unmarked {
  const mark = present.get(partition);
  if (mark !== undefined) return mark;
  if (others.has(partition)) return 'other-incarnation';
  if (present.size > 0) return 'added-partition';
  return others.size > 0 ? 'other-incarnation' : none;
}

/** The loud state: what does not fit, and what an operator can choose. */
export const discontinuityHint =
  'decide with ingest.onOffsetDiscontinuity: reset-to-earliest, reset-to-latest or accept; nothing is read from this partition until then';

export function discontinuityError(table: string, entry: Discontinuity): ServiceError {
  return serviceError.discontinuity(
    'OFFSET_DISCONTINUITY',
    `table "${table}", topic "${entry.topic}" partition ${entry.partition}: ${entry.detail}`,
    { hint: discontinuityHint, context: { table, topic: entry.topic, partition: entry.partition } },
  );
}
