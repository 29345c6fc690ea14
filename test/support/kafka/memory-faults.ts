import type { ServiceError } from '../../../src/base/errors.ts';

/** What a client asks of the memory broker; the places where faults strike. */
export type BrokerOperation =
  | 'metadata'
  | 'create-topics'
  | 'delete-topic'
  | 'offsets'
  | 'join-group'
  | 'commit-offsets'
  | 'fetch'
  | 'produce'
  | 'open-transactional'
  | 'add-partitions'
  | 'end-transaction';

/**
 * A fault to come: `before` means the broker never sees the request; `after` means it is applied and the answer is lost.
 */
export interface BrokerFault {
  readonly operation: BrokerOperation;
  readonly when: 'before' | 'after';
  /** Default: any client. */
  readonly clientId?: string | undefined;
  /** How many matching requests it strikes. Default 1. */
  readonly times?: number | undefined;
  /** Requests to let through first. Default 0. */
  readonly afterRequests?: number | undefined;
  /** Thrown instead of the usual error of a lost request or a lost answer. */
  readonly error?: ServiceError | undefined;
}

/** One request's moment, for a seeded policy that decides about faults as the simulation goes. */
export interface BrokerMoment {
  readonly operation: BrokerOperation;
  readonly when: 'before' | 'after';
  readonly clientId: string;
}

/** Faults waiting for their request. */
export class FaultQueue {
  readonly #armed: { readonly fault: BrokerFault; skipsLeft: number; timesLeft: number }[] = [];
  readonly #policy: ((moment: BrokerMoment) => boolean) | undefined;

  constructor(policy?: (moment: BrokerMoment) => boolean) {
    this.#policy = policy;
  }

  add(fault: BrokerFault): void {
    this.#armed.push({ fault, skipsLeft: fault.afterRequests ?? 0, timesLeft: fault.times ?? 1 });
  }

  clear(): void {
    this.#armed.length = 0;
  }

  /** The fault that strikes at this moment, if any; consumes it. */
  strike(moment: BrokerMoment): { readonly error: ServiceError | undefined } | undefined {
    for (const [index, armed] of this.#armed.entries()) {
      const { fault } = armed;
      if (fault.operation !== moment.operation || fault.when !== moment.when) continue;
      if (fault.clientId !== undefined && fault.clientId !== moment.clientId) continue;
      if (armed.skipsLeft > 0) {
        armed.skipsLeft -= 1;
        continue;
      }
      armed.timesLeft -= 1;
      if (armed.timesLeft <= 0) this.#armed.splice(index, 1);
      return { error: fault.error };
    }
    return this.#policy?.(moment) === true ? { error: undefined } : undefined;
  }
}
