import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../../src/base/seeded-random.ts';
import { MemoryLedger, type MemoryShare } from '../../../../src/ingest/memory/memory-ledger.ts';
import type { FetchGrant } from '../../../../src/kafka/client.ts';

const MiB = 2 ** 20;

/** One who shares: what it collects is on its way when it is relieved, and given back when the test says so. */
class Holder {
  readonly share: MemoryShare;
  readonly grants: FetchGrant[] = [];
  collected = 0;
  underWay = 0;
  changes = 0;
  relieved = 0;

  constructor(ledger: MemoryLedger, name: string) {
    this.share = ledger.open(name, {
      changed: () => {
        this.changes += 1;
      },
      relieve: () => {
        this.relieved += 1;
        this.underWay += this.collected;
        this.collected = 0;
        this.share.keep(this.collected, this.underWay);
      },
    });
  }

  async take(bytes: number, signal: AbortSignal = new AbortController().signal): Promise<number> {
    const grant = await this.share.take(bytes, signal);
    this.grants.push(grant);
    return grant.bytes;
  }

  /** The oldest of its fetches brought so many bytes. */
  answered(bytes: number): void {
    const grant = this.grants.shift();
    grant?.spend(bytes);
    this.collected += bytes;
    this.share.keep(this.collected, this.underWay);
    grant?.giveBack();
  }

  committed(): void {
    this.underWay = 0;
    this.share.keep(this.collected, this.underWay);
  }
}

async function settled(): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
}

describe('the memory that tables share', () => {
  it('lets the first have its own part and the common one, and the others their own all the same', async () => {
    const ledger = new MemoryLedger({ sizeBytes: 64 * MiB, shares: 4 });
    const [first, second] = [new Holder(ledger, 'first'), new Holder(ledger, 'second')];
    expect(await first.take(100 * MiB)).toBe(40 * MiB);
    expect(await second.take(100 * MiB)).toBe(8 * MiB);
    expect(ledger.status).toEqual({ sizeBytes: 64 * MiB, heldBytes: 48 * MiB, peakBytes: 48 * MiB, waiting: [] });
  });

  it('serves those who wait in the order they came', async () => {
    const ledger = new MemoryLedger({ sizeBytes: 8 * MiB, shares: 4 });
    const [first, second, third] = [new Holder(ledger, 'first'), new Holder(ledger, 'second'), new Holder(ledger, 'third')];
    await first.take(5 * MiB);
    await Promise.all([second.take(MiB), third.take(MiB)]);
    const served: string[] = [];
    for (const holder of [third, second])
      void holder.take(2 * MiB).then((bytes) => served.push(`${holder === third ? 'third' : 'second'} ${bytes}`));
    await settled();
    expect(ledger.status.waiting).toEqual(['third', 'second']);
    first.answered(0);
    await settled();
    expect(served).toEqual([`third ${2 * MiB}`, `second ${2 * MiB}`]);
  });

  it('has whoever collected most hand it on when another waits', async () => {
    const ledger = new MemoryLedger({ sizeBytes: 8 * MiB, shares: 2 });
    const [large, small] = [new Holder(ledger, 'large'), new Holder(ledger, 'small')];
    await large.take(6 * MiB);
    large.answered(6 * MiB);
    await small.take(2 * MiB);
    small.answered(2 * MiB);
    const waiting = small.take(2 * MiB);
    await settled();
    expect([large.relieved, small.relieved]).toEqual([1, 0]);
    large.committed();
    expect(await waiting).toBe(2 * MiB);
  });

  it('tells a table that it is full, and that it is not any more', async () => {
    const ledger = new MemoryLedger({ sizeBytes: 8 * MiB, shares: 2 });
    const holder = new Holder(ledger, 'table');
    await holder.take(MiB);
    holder.answered(50 * MiB);
    expect([holder.share.isFull, holder.changes, holder.relieved]).toEqual([true, 1, 1]);
    holder.committed();
    expect([holder.share.isFull, holder.changes]).toEqual([false, 2]);
    expect(ledger.status.peakBytes).toBe(50 * MiB);
  });

  it('makes nobody full by room that is only granted', async () => {
    const ledger = new MemoryLedger({ sizeBytes: 8 * MiB, shares: 1 });
    const holder = new Holder(ledger, 'table');
    expect(await holder.take(100 * MiB)).toBe(8 * MiB);
    expect([holder.share.isFull, holder.changes]).toEqual([false, 0]);
  });

  it('refuses those who wait when they stop, and serves the next', async () => {
    const ledger = new MemoryLedger({ sizeBytes: 2 * MiB, shares: 2 });
    const [first, second] = [new Holder(ledger, 'first'), new Holder(ledger, 'second')];
    await first.take(4 * MiB);
    await second.take(MiB / 2);
    const stop = new AbortController();
    const stopped = first.take(MiB, stop.signal);
    const closed = second.take(MiB);
    stop.abort();
    await expect(stopped).rejects.toMatchObject({ kind: 'aborted' });
    second.share.close();
    await expect(closed).rejects.toMatchObject({ kind: 'aborted' });
    expect(ledger.status.waiting).toEqual([]);
  });

  it('never stands still and never passes its size, whoever comes when', async () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    const random = new SeededRandom(seed);
    const count = 1 + Math.floor(random.next() * 20);
    const ledger = new MemoryLedger({ sizeBytes: count * 4 * MiB, shares: count });
    const holders = Array.from({ length: count }, (_, index) => new Holder(ledger, `${index}`));
    const rounds = new Map(holders.map((holder) => [holder, 0]));
    const run = async (holder: Holder): Promise<void> => {
      for (let round = 0; round < 50; round += 1) {
        const bytes = await holder.take((1 + random.next() * 15) * MiB);
        holder.answered(Math.floor(bytes * random.next()));
        rounds.set(holder, round + 1);
        if (random.next() < 0.3) await settled();
      }
      holder.collected = 0;
      holder.share.keep(0, holder.underWay);
    };
    const running = Promise.all(holders.map(run));
    const state = { done: false };
    void running.then(() => {
      state.done = true;
    });
    for (let step = 0; step < 20_000 && !state.done; step += 1) {
      await settled();
      const holder = holders[Math.floor(random.next() * count)];
      if (random.next() < 0.5) holder?.committed();
    }
    expect({ seed, done: state.done, rounds: [...new Set(rounds.values())] }).toEqual({ seed, done: true, rounds: [50] });
    expect({ seed, kept: ledger.status.peakBytes <= ledger.sizeBytes }).toEqual({ seed, kept: true });
  });
});
