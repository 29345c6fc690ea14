import { createInterface } from 'node:readline';
import { createSession, DeltaConcurrentModificationException } from '../../../src/index.ts';
import type { RaceResult, RaceTask } from './racing-process.ts';

/**
 * A process of its own that changes tables (writer INT, n INT) by SQL: a task per line of stdin, its result as a line of stdout. An
 * operation that loses against another writer is run again.
 */
const session = createSession({ config: { 'tidewater.engine.threads': 1, 'tidewater.engine.memoryLimit': '256mb' } });

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await perform(JSON.parse(line) as RaceTask)));
}
await session.stop();

async function perform({ path, what, writer, count }: RaceTask): Promise<RaceResult> {
  const table = `delta.\`${path}\``;
  const lost: string[] = [];
  for (let n = 0; n < count; ) {
    try {
      await session.sql(
        what === 'append' ? `INSERT INTO ${table} VALUES (${writer}, ${n})` : `UPDATE ${table} SET n = n + 1 WHERE writer = 0`,
      );
      n += 1;
    } catch (error) {
      if (!(error instanceof DeltaConcurrentModificationException)) throw error;
      lost.push(error.constructor.name);
    }
  }
  return { done: count, lost };
}
