import type { Engine } from '../../src/engine/engine.ts';

/** The same engine, with a call before and after each time it writes files; `number` counts from 1. */
export function watchedEngine(
  engine: Engine,
  watch: { readonly writing?: (number: number) => void; readonly written?: (number: number) => void },
): Engine {
  let number = 0;
  return {
    scan: (...args) => engine.scan(...args),
    materialize: (...args) => engine.materialize(...args),
    hold: (...args) => engine.hold(...args),
    read: (...args) => engine.read(...args),
    prepare: (...args) => engine.prepare(...args),
    describe: (...args) => engine.describe(...args),
    rows: (...args) => engine.rows(...args),
    explain: (...args) => engine.explain(...args),
    close: () => engine.close(),
    writeParquet: async (...args) => {
      number += 1;
      const own = number;
      watch.writing?.(own);
      const files = await engine.writeParquet(...args);
      watch.written?.(own);
      return files;
    },
  };
}
