import { isServiceError } from '../../src/base/errors.ts';
import { RandomIdSource } from '../../src/base/ids.ts';
import { SystemClock } from '../../src/base/system-clock.ts';
import { SystemRandom } from '../../src/base/system-random.ts';
import { DeltaTables } from '../../src/delta/delta-tables.ts';
import { DuckdbEngine } from '../../src/engine/duckdb-engine.ts';
import { parseExpression } from '../../src/expr/parse/parse-expression.ts';
import { LocalObjectStore } from '../../src/storage/local-object-store.ts';

/**
 * A process of its own that changes a table: `racing-writer.ts <directory> <append|increment> <writer> <count>`. Prints `{"done":n,"lost":m}`:
 * operations that became versions, and attempts that met a conflict and were run again.
 */
const [directory = '', what = '', writer = '', count = '0'] = process.argv.slice(2);
const ids = new RandomIdSource(new SystemRandom());
const engine = await DuckdbEngine.open({
  memoryLimitBytes: 128 << 20,
  threads: 1,
  temporaryDirectory: `${directory}.${writer}.spill`,
  ids,
});
const tables = new DeltaTables({
  openStore: (location) => new LocalObjectStore({ directory: location, ids }),
  clock: new SystemClock(),
  random: new SystemRandom(),
  ids,
  version: 'test',
  rewriter: { rewrite: () => Promise.reject(new TypeError('not used')) },
  engine: () => Promise.resolve(engine),
});
const table = await tables.open('raced', directory);
if (table === undefined) throw new TypeError(`no table at ${directory}`);

async function once(index: number): Promise<void> {
  if (what === 'append') {
    const sql = `SELECT ${writer}::INTEGER AS writer, ${index}::INTEGER AS n`;
    await table?.operations.write({ rows: { sql, schema: await engine.describe(sql) }, mode: { kind: 'append' } });
  } else {
    const condition = parseExpression('writer = 0');
    await table?.operations.update({ condition, assignments: [{ target: ['n'], value: parseExpression('n + 1') }] });
  }
}

let lost = 0;
for (let index = 0; index < Number(count); ) {
  try {
    await once(index);
    index += 1;
  } catch (error) {
    if (!isServiceError(error, 'conflict')) throw error;
    lost += 1;
  }
}
await engine.close();
console.log(JSON.stringify({ done: Number(count), lost }));
