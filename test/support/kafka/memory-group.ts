import { ServiceError } from '../../../src/base/errors.ts';
import type { StartPosition, TopicPartition } from '../../../src/kafka/client.ts';

/** What a consumer is to its group. */
export interface GroupMember {
  readonly memberId: string;
  readonly clientId: string;
  readonly topics: readonly string[];
  /** Resolves when the member gave up its partitions of `generation`; must resolve even if the member is gone. */
  revoke(generation: number): Promise<void>;
  /** Hands over the partitions of a generation; returns at once. */
  assign(partitions: readonly TopicPartition[], generation: number): void;
}

/** A consumer group of the memory broker: eager rebalancing, round robin, offsets. */
export class MemoryGroup {
  readonly #groupId: string;
  readonly #partitionCount: (topic: string) => number | undefined;
  readonly #members = new Map<string, GroupMember>();
  /** Members that hold an assignment of the current generation. */
  readonly #assigned = new Set<string>();
  readonly #offsets = new Map<string, StartPosition>();
  /** Wakes a rebalance that waits for a member when the member is gone: it may never answer. */
  readonly #departures = new Map<string, () => void>();
  #generation = 0;
  #rebalancing: Promise<void> | undefined;
  #stale = false;

  constructor(groupId: string, partitionCount: (topic: string) => number | undefined) {
    this.#groupId = groupId;
    this.#partitionCount = partitionCount;
  }

  get generation(): number {
    return this.#generation;
  }

  /** Adds a member; resolves when a generation includes it. Topics need not exist. */
  async join(member: GroupMember): Promise<void> {
    this.#members.set(member.memberId, member);
    await this.rebalance();
  }

  /** Removes a member and gives its partitions to the others; does not wait for them. */
  leave(memberId: string): void {
    this.#departures.get(memberId)?.();
    this.#assigned.delete(memberId);
    if (this.#members.delete(memberId)) void this.rebalance();
  }

  evict(clientId: string): void {
    for (const member of [...this.#members.values()]) if (member.clientId === clientId) this.leave(member.memberId);
  }

  /** Starts a generation; requests during a rebalance are folded into one more. */
  rebalance(): Promise<void> {
    this.#stale = true;
    this.#rebalancing ??= this.#run().finally(() => {
      this.#rebalancing = undefined;
    });
    return this.#rebalancing;
  }

  /** @throws ServiceError `KAFKA_GROUP_FENCED` when the member does not belong to `generation`. */
  commit(memberId: string, generation: number, positions: readonly StartPosition[]): void {
    if (!this.#assigned.has(memberId) || generation !== this.#generation) {
      throw new ServiceError({
        code: 'KAFKA_GROUP_FENCED',
        kind: 'fenced',
        message: `group "${this.#groupId}": member "${memberId}" is not part of the current generation ${this.#generation}`,
      });
    }
    for (const position of positions) this.#offsets.set(`${position.topic}/${position.partition}`, position);
  }

  committed(topic: string): readonly StartPosition[] {
    return [...this.#offsets.values()].filter((position) => position.topic === topic).sort((a, b) => a.partition - b.partition);
  }

  async #run(): Promise<void> {
    while (this.#stale) {
      const holders = [...this.#assigned].flatMap((memberId) => this.#members.get(memberId) ?? []);
      await Promise.all(holders.map((member) => Promise.race([member.revoke(this.#generation), this.#departure(member.memberId)])));
      this.#departures.clear();
      this.#stale = false;
      this.#assigned.clear();
      this.#generation += 1;
      for (const [member, partitions] of this.#assignments()) {
        this.#assigned.add(member.memberId);
        member.assign(partitions, this.#generation);
      }
    }
  }

  #departure(memberId: string): Promise<void> {
    return new Promise((resolve) => {
      this.#departures.set(memberId, resolve);
    });
  }

  /** Partition i of a topic goes to member i modulo their number, members in order of their ids. */
  #assignments(): ReadonlyMap<GroupMember, readonly TopicPartition[]> {
    const members = [...this.#members.values()].sort((a, b) => (a.memberId < b.memberId ? -1 : 1));
    const assignments = new Map<GroupMember, TopicPartition[]>(members.map((member) => [member, []]));
    for (const topic of [...new Set(members.flatMap((member) => member.topics))].sort()) {
      const takers = members.filter((member) => member.topics.includes(topic));
      for (let partition = 0; partition < (this.#partitionCount(topic) ?? 0); partition += 1) {
        const taker = takers[partition % takers.length];
        if (taker !== undefined) assignments.get(taker)?.push({ topic, partition });
      }
    }
    return assignments;
  }
}
