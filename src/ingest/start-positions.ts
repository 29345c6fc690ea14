import type { KafkaAdmin, PartitionOffsets, TopicPartition } from '../kafka/client.ts';
import { type SourceIdentity, writerIdOf, writerIdPrefix } from '../protocol/source-offsets.ts';
import { type DiscontinuityPolicy, decideStart, type StartFrom } from './start-position.ts';

/** A partition that is not read until an operator decides. */
export interface Discontinuity extends TopicPartition {
  readonly detail: string;
}

export interface ReadFrom extends TopicPartition {
  readonly offset: bigint;
  readonly expectedMark: bigint | undefined;
}

export interface StartPlan {
  readonly positions: readonly ReadFrom[];
  readonly discontinuities: readonly Discontinuity[];
}

export interface StartPlanOptions {
  readonly admin: KafkaAdmin;
  readonly partitions: readonly TopicPartition[];
  /** The table's marks of this pipeline. */
  readonly marks: ReadonlyMap<string, bigint>;
  readonly identityOf: (topic: string) => Promise<SourceIdentity>;
  readonly policy: DiscontinuityPolicy;
  readonly startFrom: StartFrom;
}

/** Decides for each assigned partition where reading starts, from the table's marks and what the topics hold. */
export async function planStart(options: StartPlanOptions): Promise<StartPlan> {
  const positions: ReadFrom[] = [];
  const discontinuities: Discontinuity[] = [];
  for (const topic of new Set(options.partitions.map((partition) => partition.topic))) {
    const [identity, held] = await Promise.all([options.identityOf(topic), options.admin.offsets(topic)]);
    for (const partition of options.partitions) {
      if (partition.topic !== topic) continue;
      const offsets = held.find((candidate) => candidate.partition === partition.partition);
      if (offsets === undefined) {
        discontinuities.push({ ...partition, detail: 'the topic has no such partition' });
        continue;
      }
      const decision = decideStart({
        ...markFacts(options.marks, identity, offsets),
        policy: options.policy,
        startFrom: options.startFrom,
      });
      if (decision.kind === 'start') positions.push({ ...partition, offset: decision.offset, expectedMark: decision.expectedMark });
      else discontinuities.push({ ...partition, detail: decision.detail });
    }
  }
  return { positions, discontinuities };
}

function markFacts(
  marks: ReadonlyMap<string, bigint>,
  identity: SourceIdentity,
  offsets: PartitionOffsets,
): { mark: bigint | undefined; otherIncarnation: boolean; earliest: bigint; latest: bigint } {
  const mark = marks.get(writerIdOf(identity, offsets.partition));
  const prefix = writerIdPrefix(identity.pipeline, identity.topic, offsets.partition);
  const otherIncarnation = mark === undefined && [...marks.keys()].some((writerId) => writerId.startsWith(prefix));
  return { mark, otherIncarnation, earliest: offsets.earliest, latest: offsets.latest };
}
