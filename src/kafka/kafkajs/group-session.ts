import type { KafkaConnection } from './kafkajs-connection.ts';
import { isPermanent, kafkaCode, kafkaCodeOf, toServiceError } from './kafkajs-errors.ts';

/** One member's seat in a generation. */
export interface Seat {
  readonly generation: number;
  readonly memberId: string;
}

/** A member as the leader of a generation sees it. */
export interface JoinedMember {
  readonly memberId: string;
  readonly memberMetadata: Buffer;
}

/** What the leader gives to a member. */
export interface Share {
  readonly memberId: string;
  readonly memberAssignment: Buffer;
}

/** What the members of a group divide among themselves, and how. */
export interface GroupProtocol<T> {
  readonly name: string;
  /** What this member wants, for the leader. */
  metadata(): Promise<Buffer>;
  /** The leader's duty: divides among the members. */
  divide(members: readonly JoinedMember[], generation: number): Promise<readonly Share[]>;
  /** What fell to this member; no bytes at all when the leader gave it nothing. */
  read(share: Buffer): T;
}

export interface GroupSessionOptions<T> {
  readonly connection: KafkaConnection;
  readonly groupId: string;
  readonly protocol: GroupProtocol<T>;
  readonly sessionTimeoutMs: number;
  readonly rebalanceTimeoutMs: number;
}

const joinDeadlineMs = 30_000;
const maxHeartbeatIntervalMs = 1000;

/** Speaks the group protocol, whatever is divided: join, sync, heartbeat, leave. Holds the member id between generations. */
export class GroupSession<T> {
  readonly #options: GroupSessionOptions<T>;
  #memberId = '';

  constructor(options: GroupSessionOptions<T>) {
    this.#options = options;
  }

  /** Joins or joins again; resolves when the generation is settled. Rejects with a ServiceError. */
  async join(signal: AbortSignal): Promise<Seat & { readonly share: T }> {
    const { groupId, protocol, sessionTimeoutMs, rebalanceTimeoutMs } = this.#options;
    for (;;) {
      const metadata = await protocol.metadata();
      try {
        const joined = await this.#ask(signal, (broker) =>
          broker.joinGroup({
            groupId,
            sessionTimeout: sessionTimeoutMs,
            rebalanceTimeout: rebalanceTimeoutMs,
            memberId: this.#memberId,
            groupProtocols: [{ name: protocol.name, metadata }],
          }),
        );
        this.#memberId = joined.memberId;
        const { generationId, memberId } = joined;
        const groupAssignment = joined.leaderId === memberId ? await protocol.divide(joined.members, generationId) : [];
        const synced = await this.#ask(signal, (broker) => broker.syncGroup({ groupId, generationId, memberId, groupAssignment }));
        return { generation: generationId, memberId, share: protocol.read(synced.memberAssignment) };
      } catch (error) {
        const code = kafkaCodeOf(error);
        if (code === kafkaCode.unknownMember) this.#memberId = '';
        // The group moved on while this member was joining: once more.
        else if (code !== kafkaCode.rebalanceInProgress && code !== kafkaCode.illegalGeneration)
          throw toServiceError(error, `join group "${groupId}"`);
      }
    }
  }

  /** Sends signs of life until the generation is over. Rejects for good reasons only: a broker that is away for long ends the generation at most. */
  async keep(seat: Seat, signal: AbortSignal): Promise<void> {
    const { connection, sessionTimeoutMs } = this.#options;
    const { clock } = connection;
    const intervalMs = Math.min(maxHeartbeatIntervalMs, sessionTimeoutMs / 10);
    let heardMs = clock.monotonicMs();
    while (!signal.aborted) {
      try {
        await clock.sleep(intervalMs, signal);
        if ((await this.#heartbeat(seat)) === 'rejoin') return;
        heardMs = clock.monotonicMs();
      } catch (error) {
        const failure = toServiceError(error, 'heartbeat');
        if (isPermanent(failure)) throw failure;
        if (clock.monotonicMs() - heardMs > sessionTimeoutMs) return;
      }
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

  /**
   * One sign of life. `rejoin`: the generation is over; `kept`: it goes on. Rejects with kind `unavailable` when nobody answered, which
   * may be tried again until the session times out, and with other kinds for good.
   */
  async #heartbeat(seat: Seat): Promise<'kept' | 'rejoin'> {
    const { connection, groupId } = this.#options;
    try {
      const broker = await connection.coordinator('group', groupId);
      await broker.heartbeat({ groupId, groupGenerationId: seat.generation, memberId: seat.memberId });
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

  #ask<A>(signal: AbortSignal, call: Parameters<typeof KafkaConnection.prototype.askCoordinator<A>>[1]): Promise<A> {
    const { connection, groupId } = this.#options;
    return connection.askCoordinator({ kind: 'group', id: groupId, deadlineMs: joinDeadlineMs }, call, signal);
  }
}
