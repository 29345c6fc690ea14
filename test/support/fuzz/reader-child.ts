import { tmpdir } from 'node:os';
import { RandomIdSource } from '../../../src/base/ids.ts';
import { SystemRandom } from '../../../src/base/system-random.ts';
import { DuckdbEngine } from '../../../src/engine/duckdb-engine.ts';
import { askAll } from './questions.ts';

// A process of its own that reads tables others have damaged: it may crash or hang without harm to whoever asked.
const engine = await DuckdbEngine.open({
  memoryLimitBytes: 256 << 20,
  threads: 1,
  temporaryDirectory: tmpdir(),
  ids: new RandomIdSource(new SystemRandom()),
});

process.on('message', (directory) => {
  void askAll(engine, String(directory)).then((answers) => {
    process.send?.({ answers, residentBytes: process.memoryUsage().rss });
  });
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
