import { AssignerProtocol } from 'kafkajs';
import { assert } from '../../base/assert.ts';
import { type ServiceError, serviceError } from '../../base/errors.ts';
import type { StartPosition, TopicPartition } from '../client.ts';
import { GroupSession, type JoinedMember, type Seat, type Share } from './group-session.ts';
import type { KafkaConnection } from './kafkajs-connection.ts';
import { kafkaCode, kafkaCodeOf, toServiceError } from './kafkajs-errors.ts';
import type { Subscription } from './subscription.ts';

/** The part of a generation that fell to this member. */
export interface Membership extends Seat {
  readonly partitions: readonly TopicPartition[];
}

export interface GroupOptions {
  readonly connection: KafkaConnection;
  readonly groupId: string;
  readonly subscription: Subscription;
  readonly sessionTimeoutMs: number;
  readonly rebalanceTimeoutMs: number;
}

// Same name and layout as kafkajs's own assigner, so that members of either kind share a group during a change of versions.
const assignerName = 'RoundRobinAssigner';
const protocolVersion = 0;

/** Membership in a group that divides partitions of topics, and keeps offsets for them. */
export class GroupMembership {
  readonly #options: GroupOptions;
  readonly #session: GroupSession<readonly TopicPartition[]>;

  constructor(options: GroupOptions) {
    this.#options = options;
    const protocol = {
      name: assignerName,
      metadata: () => this.#metadata(),
      divide: (members: readonly JoinedMember[]) => this.#assign(members),
      read: partitionsIn,
    };
    this.#session = new GroupSession({ ...options, protocol });
  }

  /** Joins or joins again; resolves when the generation is settled. Topics need not exist. Rejects with a ServiceError. */
  async join(signal: AbortSignal): Promise<Membership> {
    const { generation, memberId, share } = await this.#session.join(signal);
    return { generation, memberId, partitions: share };
  }

  /** As `GroupSession.keep`. */
  keep(membership: Membership, signal: AbortSignal): Promise<void> {
    return this.#session.keep(membership, signal);
  }

  /** @throws ServiceError `KAFKA_GROUP_FENCED` when the generation is over, `KAFKA_UNAVAILABLE`. */
  async commit(membership: Membership, positions: readonly StartPosition[]): Promise<void> {
    const { connection, groupId } = this.#options;
    try {
      const broker = await connection.coordinator('group', groupId);
      await broker.offsetCommit({
        groupId,
        groupGenerationId: membership.generation,
        memberId: membership.memberId,
        topics: positions.map(({ topic, partition, offset }) => ({ topic, partitions: [{ partition, offset: String(offset) }] })),
      });
    } catch (error) {
      const code = kafkaCodeOf(error);
      if (code === kafkaCode.rebalanceInProgress || code === kafkaCode.illegalGeneration || code === kafkaCode.unknownMember) {
        throw groupFenced(groupId, membership, error);
      }
      connection.forgetCoordinator('group', groupId);
      throw toServiceError(error, `commit offsets of group "${groupId}"`);
    }
  }

  /** As `GroupSession.leave`. */
  leave(): Promise<void> {
    return this.#session.leave();
  }

  async #metadata(): Promise<Buffer> {
    const { subscription } = this.#options;
    await subscription.look();
    const { topics } = subscription;
    return AssignerProtocol.MemberMetadata.encode({ version: protocolVersion, topics: [...topics], userData: Buffer.alloc(0) });
  }

  /** The leader's duty: partition i of a topic goes to member i modulo those that want the topic, in order of their ids. */
  async #assign(members: readonly JoinedMember[]): Promise<readonly Share[]> {
    const { connection } = this.#options;
    const wanting = members
      .map((member) => ({ memberId: member.memberId, topics: AssignerProtocol.MemberMetadata.decode(member.memberMetadata)?.topics ?? [] }))
      .sort((a, b) => (a.memberId < b.memberId ? -1 : 1));
    const topics = [...new Set(wanting.flatMap((member) => member.topics))].sort();
    await connection.look(topics);
    const assignments = new Map<string, Record<string, number[]>>(wanting.map((member) => [member.memberId, {}]));
    for (const topic of topics) {
      const takers = wanting.filter((member) => member.topics.includes(topic));
      for (let partition = 0; partition < connection.partitionCount(topic); partition += 1) {
        const taker = assignments.get(takers[partition % takers.length]?.memberId ?? '');
        assert(taker !== undefined, 'every topic is wanted by a member');
        taker[topic] = [...(taker[topic] ?? []), partition];
      }
    }
    return [...assignments].map(([memberId, assignment]) => ({
      memberId,
      memberAssignment: AssignerProtocol.MemberAssignment.encode({ version: protocolVersion, assignment, userData: Buffer.alloc(0) }),
    }));
  }
}

function partitionsIn(assignment: Buffer): readonly TopicPartition[] {
  // A member that got nothing may be sent no bytes at all.
  if (assignment.length === 0) return [];
  const decoded = AssignerProtocol.MemberAssignment.decode(assignment)?.assignment ?? {};
  return Object.entries(decoded).flatMap(([topic, partitions]) => partitions.map((partition) => ({ topic, partition })));
}

function groupFenced(groupId: string, membership: Membership, cause: unknown): ServiceError {
  return serviceError.fenced(
    'KAFKA_GROUP_FENCED',
    `group "${groupId}": member "${membership.memberId}" is not part of the current generation any more`,
    { cause },
  );
}
