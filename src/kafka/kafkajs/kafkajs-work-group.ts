import { AssignerProtocol } from 'kafkajs';
import { isJsonObject, type JsonObject, parseJson, printJson } from '../../base/bigint-json.ts';
import { type Deferred, deferred } from '../../base/deferred.ts';
import type { WorkGroup, WorkGroupOptions } from '../client.ts';
import { ownersByName, spreadItems, type WorkClaim } from '../item-spread.ts';
import { GroupSession, type JoinedMember, type Share } from './group-session.ts';
import { type KafkaConnection, movedBackoff } from './kafkajs-connection.ts';
import { isPermanent, toServiceError } from './kafkajs-errors.ts';

/** What the leader tells a member: its items, and the owner of every item. */
interface WorkShare {
  readonly items: ReadonlySet<string>;
  readonly owners: ReadonlyMap<string, string>;
}

const protocolName = 'tidewater-items';
const protocolVersion = 0;
const defaultSessionTimeoutMs = 10_000;
const rebalanceTimeoutMs = 30_000;

/**
 * A member of a group that divides items instead of partitions. The messages have the layout of consumers without topics, the items are in the
 * part for user data: Kafka's own tools can show the group.
 */
export class KafkajsWorkGroup implements WorkGroup {
  readonly #connection: KafkaConnection;
  readonly #options: WorkGroupOptions;
  readonly #session: GroupSession<WorkShare>;
  readonly #stopping = new AbortController();
  #owned: readonly string[] = [];
  #generation = -1;
  #running: Promise<void> | undefined;

  constructor(connection: KafkaConnection, options: WorkGroupOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#session = new GroupSession({
      connection,
      groupId: options.groupId,
      protocol: { name: protocolName, metadata: () => Promise.resolve(this.#claim()), divide, read: readShare },
      sessionTimeoutMs: this.#sessionTimeoutMs,
      rebalanceTimeoutMs,
    });
  }

  async start(): Promise<void> {
    const joined = deferred<undefined>();
    this.#running ??= this.#run(joined);
    await joined.promise;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    await this.#session.leave();
    await this.#connection.close();
  }

  get #sessionTimeoutMs(): number {
    return this.#options.sessionTimeoutMs ?? defaultSessionTimeoutMs;
  }

  #claim(): Buffer {
    const { member, items } = this.#options;
    const userData = Buffer.from(printJson({ member, wanted: [...items], owned: [...this.#owned], generation: this.#generation }));
    return AssignerProtocol.MemberMetadata.encode({ version: protocolVersion, topics: [], userData });
  }

  /** Never rejects: what ends it goes to `start` or to the handler. */
  async #run(joined: Deferred<undefined>): Promise<void> {
    const { signal } = this.#stopping;
    let everJoined = false;
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      try {
        const { share, ...seat } = await this.#session.join(signal);
        attempt = 0;
        everJoined = true;
        this.#generation = seat.generation;
        this.#owned = [...share.items];
        this.#options.handler.onOwned(share.items, share.owners);
        joined.resolve(undefined);
        // What was owned stays so until somebody else has it, also where a broker is away for long.
        await this.#session.keep(seat, signal);
      } catch (error) {
        if (this.#stopping.signal.aborted) break;
        const failure = toServiceError(error, `group "${this.#options.groupId}"`);
        if (!isPermanent(failure)) {
          await this.#connection.pause(movedBackoff, attempt, signal).catch(() => undefined);
          continue;
        }
        if (everJoined) this.#options.handler.onFailed(failure);
        else joined.reject(failure);
        return;
      }
    }
    joined.resolve(undefined);
  }
}

function divide(members: readonly JoinedMember[]): Promise<readonly Share[]> {
  const claims = members.map(claimOf);
  const owners = spreadItems(claims);
  const names = printJson(Object.fromEntries(ownersByName(claims, owners)));
  const shares = members.map(({ memberId }) => {
    const items = [...owners].filter(([, owner]) => owner === memberId).map(([item]) => item);
    const userData = Buffer.from(`{"items":${printJson(items)},"owners":${names}}`);
    return { memberId, memberAssignment: AssignerProtocol.MemberAssignment.encode({ version: protocolVersion, assignment: {}, userData }) };
  });
  return Promise.resolve(shares);
}

function claimOf({ memberId, memberMetadata }: JoinedMember): WorkClaim {
  const root = parsed(AssignerProtocol.MemberMetadata.decode(memberMetadata)?.userData);
  const { member, generation } = root;
  return {
    memberId,
    member: typeof member === 'string' ? member : memberId,
    wanted: textsIn(root['wanted']),
    owned: textsIn(root['owned']),
    generation: typeof generation === 'number' ? generation : -1,
  };
}

function readShare(share: Buffer): WorkShare {
  const root: JsonObject = share.length === 0 ? {} : parsed(AssignerProtocol.MemberAssignment.decode(share)?.userData);
  const owners = root['owners'];
  const named = isJsonObject(owners) ? Object.entries(owners) : [];
  return {
    items: new Set(textsIn(root['items'])),
    owners: new Map(named.flatMap(([item, owner]) => (typeof owner === 'string' ? [[item, owner]] : []))),
  };
}

function parsed(userData: Buffer | undefined): JsonObject {
  const root = userData === undefined || userData.length === 0 ? {} : parseJson(userData.toString(), 'data of a group member');
  return isJsonObject(root) ? root : {};
}

function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : [];
}
