import { abortedError } from '../../base/abort.ts';
import type { FetchAllowance, FetchGrant } from '../../kafka/client.ts';

export interface MemoryLedgerOptions {
  readonly sizeBytes: number;
  /** How many will share it, at most. */
  readonly shares: number;
  readonly onChange?: ((heldBytes: number, waiting: number) => void) | undefined;
}

/** What one of those who share a ledger does when it is asked. */
export interface ShareHolder {
  /** Told when `isFull` has changed. */
  changed(): void;
  /** Asked when others wait: hands on what it still collects, so that it comes to be given back. */
  relieve(): void;
}

/** What one of those who share a ledger holds. */
export interface MemoryShare extends FetchAllowance {
  /** Bytes that it holds by now: those it still collects, and those on their way to the table. */
  keep(collectedBytes: number, underWayBytes: number): void;
  /** It has more than its own part, and nothing is left of the common one: it should take no more. */
  readonly isFull: boolean;
  /** Gives everything back; those of its fetches that wait are refused. */
  close(): void;
}

export interface LedgerStatus {
  readonly sizeBytes: number;
  readonly heldBytes: number;
  /** The most that was ever held. */
  readonly peakBytes: number;
  /** Who waits for room, first come first served. */
  readonly waiting: readonly string[];
}

interface Share {
  readonly name: string;
  readonly holder: ShareHolder;
  collectedBytes: number;
  underWayBytes: number;
  grantedBytes: number;
  isFull: boolean;
  isClosed: boolean;
}

interface Waiting {
  readonly share: Share;
  readonly wantedBytes: number;
  readonly grant: (bytes: number) => void;
  readonly refuse: () => void;
}

/** So little a fetch may ask for that it is worth its way. */
const leastFetchBytes = 64 * 1024;
const usualFetchBytes = 1024 * 1024;
/** Of what is held: as long as so much is on its way to the tables, room comes by itself. */
const relievedPart = 1 / 4;

/**
 * Bytes that are fetched and not in a table yet, of all tables of the process. One half is divided evenly, and each has its part for itself alone:
 * no table starves because of others. The other half is for whoever comes first. Only fetches wait, each before it asks the broker; what is there
 * already is counted and never refused, and who holds nothing may always fetch once. So whoever holds something can go on to give it back: nothing
 * waits for a thing that waits for it. A record batch that is larger than what its fetch was granted is over the size until it is committed.
 */
export class MemoryLedger {
  readonly sizeBytes: number;
  readonly #partBytes: number;
  readonly #onChange: MemoryLedgerOptions['onChange'];
  readonly #shares = new Set<Share>();
  #waiting: readonly Waiting[] = [];
  #peakBytes = 0;
  #settling = false;

  constructor({ sizeBytes, shares, onChange }: MemoryLedgerOptions) {
    this.sizeBytes = sizeBytes;
    this.#onChange = onChange;
    this.#partBytes = sizeBytes / 2 / Math.max(1, shares);
  }

  open(name: string, holder: ShareHolder): MemoryShare {
    const share: Share = { name, holder, collectedBytes: 0, underWayBytes: 0, grantedBytes: 0, isFull: false, isClosed: false };
    this.#shares.add(share);
    return {
      take: (wantedBytes, signal) => this.#take(share, wantedBytes, signal),
      keep: (collectedBytes, underWayBytes) => {
        [share.collectedBytes, share.underWayBytes] = [collectedBytes, underWayBytes];
        this.#settle();
      },
      get isFull() {
        return share.isFull;
      },
      close: () => {
        this.#close(share);
      },
    };
  }

  get status(): LedgerStatus {
    const { sizeBytes } = this;
    return { sizeBytes, heldBytes: this.#heldBytes, peakBytes: this.#peakBytes, waiting: this.#waiting.map(({ share }) => share.name) };
  }

  #take(share: Share, wantedBytes: number, signal: AbortSignal): Promise<FetchGrant> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting = this.#waiting.filter((each) => each !== waiting);
        reject(abortedError(signal));
        this.#settle();
      };
      const waiting: Waiting = {
        share,
        wantedBytes,
        grant: (bytes) => {
          signal.removeEventListener('abort', onAbort);
          resolve(this.#granted(share, bytes));
        },
        refuse: () => {
          signal.removeEventListener('abort', onAbort);
          reject(abortedError());
        },
      };
      if (share.isClosed || signal.aborted) {
        reject(abortedError(signal));
        return;
      }
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting = [...this.#waiting, waiting];
      this.#settle();
    });
  }

  #granted(share: Share, bytes: number): FetchGrant {
    let left = bytes;
    const spend = (spent: number): void => {
      share.grantedBytes -= Math.min(left, spent);
      left -= Math.min(left, spent);
    };
    return {
      bytes,
      // Nobody is served before it is counted again.
      spend,
      giveBack: () => {
        spend(left);
        this.#settle();
      },
    };
  }

  #close(share: Share): void {
    share.isClosed = true;
    this.#shares.delete(share);
    const [own, others] = [this.#waiting.filter((each) => each.share === share), this.#waiting.filter((each) => each.share !== share)];
    this.#waiting = others;
    for (const { refuse } of own) refuse();
    this.#settle();
  }

  /** Everything that a change of what is held may bring about. What that changes is seen to as well, before it returns. */
  #settle(): void {
    this.#peakBytes = Math.max(this.#peakBytes, this.#heldBytes);
    if (this.#settling) return;
    this.#settling = true;
    try {
      this.#grantWaiting();
      const told = this.#markFull();
      this.#relieve();
      this.#grantWaiting();
      for (const share of new Set([...told, ...this.#markFull()])) share.holder.changed();
    } finally {
      this.#settling = false;
    }
    this.#onChange?.(this.#heldBytes, this.#waiting.length);
  }

  /** In the order they came; who has enough of its own part left passes those who wait for the common one. */
  #grantWaiting(): void {
    let isCommonTaken = false;
    const left: Waiting[] = [];
    for (const waiting of this.#waiting) {
      const bytes = this.#roomFor(waiting, isCommonTaken);
      if (bytes === undefined) {
        isCommonTaken = true;
        left.push(waiting);
        continue;
      }
      waiting.share.grantedBytes += bytes;
      waiting.grant(bytes);
    }
    this.#waiting = left;
    this.#peakBytes = Math.max(this.#peakBytes, this.#heldBytes);
  }

  #roomFor({ share, wantedBytes }: Waiting, isCommonTaken: boolean): number | undefined {
    const held = heldBy(share);
    const least = Math.min(wantedBytes, Math.max(leastFetchBytes, Math.min(usualFetchBytes, this.#partBytes)));
    const own = Math.max(0, this.#partBytes - held);
    const common = isCommonTaken ? 0 : Math.max(0, this.sizeBytes / 2 - this.#commonHeldBytes);
    const room = Math.floor(Math.min(wantedBytes, own + common));
    if (room >= least) return room;
    return held === 0 ? least : undefined;
  }

  /** While somebody waits and little is on its way, whoever has collected most hands it on. */
  #relieve(): void {
    const asked = new Set<Share>();
    while (this.#isShort && this.#underWayBytes < this.sizeBytes * relievedPart) {
      const [most] = [...this.#shares]
        .filter((share) => share.collectedBytes > 0 && !asked.has(share))
        .toSorted((left, right) => right.collectedBytes - left.collectedBytes);
      if (most === undefined) return;
      asked.add(most);
      most.holder.relieve();
    }
  }

  /** Room that is only granted fills nobody: whoever paused for it would give it back, go on, and be granted it again, without end. */
  #markFull(): readonly Share[] {
    const isCommonTaken = this.#sum((share) => Math.max(0, keptBy(share) - this.#partBytes)) >= this.sizeBytes / 2;
    const changed = [...this.#shares].filter((share) => share.isFull !== (isCommonTaken && keptBy(share) > this.#partBytes));
    for (const share of changed) share.isFull = !share.isFull;
    return changed;
  }

  get #isShort(): boolean {
    return this.#waiting.length > 0 || [...this.#shares].some(({ isFull }) => isFull);
  }

  get #heldBytes(): number {
    return this.#sum(heldBy);
  }

  get #underWayBytes(): number {
    return this.#sum(({ underWayBytes }) => underWayBytes);
  }

  /** What is held beyond everybody's own part. */
  get #commonHeldBytes(): number {
    return this.#sum((share) => Math.max(0, heldBy(share) - this.#partBytes));
  }

  #sum(of: (share: Share) => number): number {
    let sum = 0;
    for (const share of this.#shares) sum += of(share);
    return sum;
  }
}

function keptBy({ collectedBytes, underWayBytes }: Share): number {
  return collectedBytes + underWayBytes;
}

function heldBy(share: Share): number {
  return keptBy(share) + share.grantedBytes;
}
