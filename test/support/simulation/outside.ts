import { AsyncLocalStorage } from 'node:async_hooks';
import { tmpdir } from 'node:os';
import { DuckdbEngine } from '../../../src/engine/duckdb-engine.ts';
import type { Engine, HeldRelation, OpenEngine } from '../../../src/engine/engine.ts';
import type { ObjectStore } from '../../../src/storage/object-store.ts';
import type { KeyIndex } from '../../../src/table/key-index.ts';
import type { SimulatedClock } from '../simulated-clock.ts';
import { HashedIds } from './hashed-ids.ts';
import type { Power } from './power.ts';

/*
 * The engine computes in threads of its own, which take real time: simulated time stands still meanwhile. What it reads and writes meets no faults and
 * no latency, for these take simulated time.
 */

const within = new AsyncLocalStorage<true>();

function isOutside(): boolean {
  return within.getStore() === true;
}

/** Work in real time. */
export function outside<T>(clock: SimulatedClock, work: () => Promise<T>): Promise<T> {
  return isOutside() ? work() : clock.outside(() => within.run(true, work));
}

/** Of one run; whoever opened it closes it. */
export async function openOutsideEngine(clock: SimulatedClock): Promise<Engine> {
  const options = { memoryLimitBytes: 256 << 20, threads: 1, temporaryDirectory: tmpdir(), ids: new HashedIds(`engine ${process.pid}`) };
  const engine = await DuckdbEngine.open(options);
  const held = (made: () => Promise<HeldRelation>): Promise<HeldRelation> =>
    outside(clock, async () => {
      const relation = await made();
      return { sql: relation.sql, schema: relation.schema, dispose: () => outside(clock, () => relation.dispose()) };
    });
  return {
    scan: (...args) => held(() => engine.scan(...args)),
    materialize: (...args) => held(() => engine.materialize(...args)),
    hold: (...args) => held(() => engine.hold(...args)),
    read: (...args) => readOutside(clock, engine.read(...args)),
    describe: (...args) => outside(clock, () => engine.describe(...args)),
    rows: (...args) => outside(clock, () => engine.rows(...args)),
    prepare: (...args) => outside(clock, () => engine.prepare(...args)),
    writeParquet: (...args) => outside(clock, () => engine.writeParquet(...args)),
    explain: (...args) => outside(clock, () => engine.explain(...args)),
    close: () => engine.close(),
  };
}

async function* readOutside<T>(clock: SimulatedClock, items: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
  const iterator = items[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await outside(clock, () => iterator.next());
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    await outside(clock, async () => iterator.return?.());
  }
}

/** The engine as a process has it: gone with the process. */
export function poweredEngine(engine: Engine, power: Power): OpenEngine {
  const powered = new Proxy(engine, {
    get: (target, name, receiver) => {
      const member: unknown = Reflect.get(target, name, receiver);
      if (typeof member !== 'function' || name === 'read') return member;
      return (...args: readonly unknown[]) => {
        const call = (): Promise<unknown> => Reflect.apply(member, target, args) as Promise<unknown>;
        return isOutside() ? call() : power.pass(call);
      };
    },
  });
  return () => Promise.resolve(powered);
}

/** A store whose calls go straight to `raw` where the engine makes them. */
export function storeOutside(store: ObjectStore, raw: ObjectStore): ObjectStore {
  const of = (): ObjectStore => (isOutside() ? raw : store);
  return {
    root: store.root,
    read: (...args) => of().read(...args),
    readRange: (...args) => of().readRange(...args),
    head: (...args) => of().head(...args),
    list: (...args) => of().list(...args),
    put: (...args) => of().put(...args),
    putIfAbsent: (...args) => of().putIfAbsent(...args),
    delete: (...args) => of().delete(...args),
  };
}

/** An index on the local disk. */
export function indexOutside(clock: SimulatedClock, index: KeyIndex): KeyIndex {
  return {
    pays: (search) => index.pays(search),
    rowsAtOnce: index.rowsAtOnce,
    of: async (owner) => {
      const opened = await outside(clock, () => index.of(owner));
      if (opened === undefined) return undefined;
      return {
        salt: opened.salt,
        get isUntidy() {
          return opened.isUntidy;
        },
        covers: (file) => opened.covers(file),
        add: (...args) => outside(clock, () => opened.add(...args)),
        find: (...args) => outside(clock, () => opened.find(...args)),
        tidy: (live) => {
          opened.tidy(live);
        },
      };
    },
  };
}
