import type { WorkGroup, WorkGroupOptions } from '../../../src/kafka/client.ts';
import { ownersByName, spreadItems } from '../../../src/kafka/item-spread.ts';
import type { ClientLink } from './client-link.ts';

/** The members of the memory broker's work groups; those of clients that are not up are left out, as after a session timeout. */
export class MemoryWorkGroups {
  readonly #members = new Set<MemoryWorkGroup>();
  #generation = 0;
  #serial = 0;

  memberIdFor(clientId: string): string {
    this.#serial += 1;
    return `${clientId}-work-${String(this.#serial).padStart(6, '0')}`;
  }

  join(member: MemoryWorkGroup): void {
    this.#members.add(member);
    this.divide(member.groupId);
  }

  leave(member: MemoryWorkGroup): void {
    if (this.#members.delete(member)) this.divide(member.groupId);
  }

  /** Members of the client are gone, or heard again: their groups are divided anew. */
  changed(clientId: string): void {
    const groups = [...this.#members].filter(({ link }) => link.clientId === clientId).map(({ groupId }) => groupId);
    for (const groupId of new Set(groups)) this.divide(groupId);
  }

  divide(groupId: string): void {
    this.#generation += 1;
    const members = [...this.#members].filter((member) => member.groupId === groupId && member.link.state === 'up');
    const claims = members.map((member) => member.claim());
    const owners = spreadItems(claims);
    const names = ownersByName(claims, owners);
    for (const member of members) {
      const items = [...owners].filter(([, owner]) => owner === member.memberId).map(([item]) => item);
      member.give(new Set(items), { names, generation: this.#generation });
    }
  }
}

/** What a member needs of the cluster. */
interface WorkGroupHost {
  readonly workGroups: MemoryWorkGroups;
  request<T>(link: ClientLink, operation: 'join-group', apply: () => T): Promise<T>;
}

/** A member of a work group of the memory broker: told of every division at once. */
export class MemoryWorkGroup implements WorkGroup {
  readonly memberId: string;
  readonly link: ClientLink;
  readonly #cluster: WorkGroupHost;
  readonly #options: WorkGroupOptions;
  #owned: readonly string[] = [];
  #generation = -1;

  constructor(cluster: WorkGroupHost, link: ClientLink, options: WorkGroupOptions) {
    this.memberId = cluster.workGroups.memberIdFor(link.clientId);
    this.link = link;
    this.#cluster = cluster;
    this.#options = options;
  }

  get groupId(): string {
    return this.#options.groupId;
  }

  claim(): Parameters<typeof spreadItems>[0][number] {
    const { member, items } = this.#options;
    return { memberId: this.memberId, member, wanted: items, owned: this.#owned, generation: this.#generation };
  }

  give(items: ReadonlySet<string>, division: { readonly names: ReadonlyMap<string, string>; readonly generation: number }): void {
    this.#owned = [...items];
    this.#generation = division.generation;
    this.#options.handler.onOwned(items, division.names);
  }

  async start(): Promise<void> {
    await this.#cluster.request(this.link, 'join-group', () => {
      this.#cluster.workGroups.join(this);
    });
  }

  stop(): Promise<void> {
    this.#cluster.workGroups.leave(this);
    return Promise.resolve();
  }
}
