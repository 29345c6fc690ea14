import { AssignerProtocol } from 'kafkajs';
import { assert } from '../../base/assert.ts';
import { ServiceError } from '../../base/errors.ts';
import type { StartPosition, TopicPartition } from '../client.ts';
import type { KafkaConnection } from './kafkajs-connection.ts';
import { kafkaCode, kafkaCodeOf, toServiceError } from './kafkajs-errors.ts';

/** The part of a generation that fell to this member. */
export interface Membership {
  readonly generation: number;
  readonly memberId: string;
  readonly partitions: readonly TopicPartition[];
}

export interface GroupOptions {
  readonly connection: KafkaConnection;
  readonly groupId: string;
  readonly topics: readonly string[];
  readonly sessionTimeoutMs: number;
  readonly rebalanceTimeoutMs: number;
}

// Same name and layout as kafkajs's own assigner, so that members of either kind share a group during a change of versions.
const assignerName = 'RoundRobinAssigner';
const protocolVersion = 0;
const joinDeadlineMs = 30_000;

/** Speaks the group protocol: join, sync, heartbeat, leave, offsets. Holds the member id between generations. */
export class GroupMembership {
  readonly #options: GroupOptions;
  #memberId = '';

  constructor(options: GroupOptions) {
    this.#options = options;
  }

  /** Joins or joins again; resolves when the generation is settled. Topics need not exist. Rejects with a ServiceError. */
  async join(signal: AbortSignal): Promise<Membership> {
    const { connection, groupId, topics, sessionTimeoutMs, rebalanceTimeoutMs } = this.#options;
    for (;;) {
      await connection.look(topics);
      try {
        const joined = await this.#ask(signal, (broker) =>
          broker.joinGroup({
            groupId,
            sessionTimeout: sessionTimeoutMs,
            rebalanceTimeout: rebalanceTimeoutMs,
            memberId: this.#memberId,
            groupProtocols: [
              {
                name: assignerName,
                metadata: AssignerProtocol.MemberMetadata.encode({
                  version: protocolVersion,
                  topics: [...topics],
                  userData: Buffer.alloc(0),
                }),
              },
            ],
          }),
        );
        this.#memberId = joined.memberId;
        const groupAssignment = joined.leaderId === joined.memberId ? await this.#assign(joined.members) : [];
        const synced = await this.#ask(signal, (broker) =>
          broker.syncGroup({ groupId, generationId: joined.generationId, memberId: joined.memberId, groupAssignment }),
        );
        return { generation: joined.generationId, memberId: joined.memberId, partitions: partitionsIn(synced.memberAssignment) };
      } catch (error) {
        const code = kafkaCodeOf(error);
        if (code === kafkaCode.unknownMember) this.#memberId = '';
        // The group moved on while this member was joining: once more.
        else if (code !== kafkaCode.rebalanceInProgress && code !== kafkaCode.illegalGeneration)
          throw toServiceError(error, `join group "${groupId}"`);
      }
    }
  }

  /**
   * One sign of life. `rejoin`: the generation is over; `kept`: it goes on. Rejects with kind `unavailable` when nobody answered, which
   * may be tried again until the session times out, and with other kinds for good.
   */
  async heartbeat(membership: Membership): Promise<'kept' | 'rejoin'> {
    const { connection, groupId } = this.#options;
    try {
      const broker = await connection.coordinator('group', groupId);
      await broker.heartbeat({ groupId, groupGenerationId: membership.generation, memberId: membership.memberId });
      return 'kept';
    } catch (error) {
      const code = kafkaCodeOf(error);
      if (code === kafkaCode.rebalanceInProgress || code === kafkaCode.illegalGeneration) return 'rejoin';
      if (code === kafkaCode.unknownMember) {
        this.#memberId = '';
        return 'rejoin';
      }
      connection.forgetCoordinator('group', groupId);
      throw toServiceError(error, `heartbeat to group "${groupId}"`);
    }
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

  /** Best effort: a member that is not heard leaves by its session timeout. */
  async leave(): Promise<void> {
    const { connection, groupId } = this.#options;
    if (this.#memberId === '') return;
    try {
      const broker = await connection.coordinator('group', groupId);
      await broker.leaveGroup({ groupId, memberId: this.#memberId });
    } catch (error) {
      if (!(error instanceof Error)) throw error;
    }
  }

  #ask<T>(signal: AbortSignal, call: Parameters<typeof KafkaConnection.prototype.askCoordinator<T>>[1]): Promise<T> {
    const { connection, groupId } = this.#options;
    return connection.askCoordinator({ kind: 'group', id: groupId, deadlineMs: joinDeadlineMs }, call, signal);
  }

  /** The leader's duty: partition i of a topic goes to member i modulo those that want the topic, in order of their ids. */
  async #assign(
    members: readonly { readonly memberId: string; readonly memberMetadata: Buffer }[],
  ): Promise<readonly { readonly memberId: string; readonly memberAssignment: Buffer }[]> {
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
  return new ServiceError({
    code: 'KAFKA_GROUP_FENCED',
    kind: 'fenced',
    message: `group "${groupId}": member "${membership.memberId}" is not part of the current generation any more`,
    cause,
  });
}
