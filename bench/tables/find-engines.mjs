// The engines that the tests with other engines install (test/engines): interpreters and jars of the versions asked for.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Of each format the interpreter that makes its data, and Spark's jars; `undefined`, with the reason logged, where one is not installed. */
export function findEngines(log) {
  const spark = installed(['requirements.txt', 'pom.xml'], '', log);
  const iceberg = installed(['iceberg-requirements.txt'], 'iceberg-', log);
  return {
    delta: spark && { python: pythonOf(spark), sparkPython: pythonOf(spark), jars: join(spark, 'jars') },
    iceberg: iceberg && { python: pythonOf(iceberg), sparkPython: spark && pythonOf(spark), jars: spark && join(spark, 'jars') },
  };
}

const pythonOf = (dir) => join(dir, 'venv', 'bin', 'python');

function installed(files, prefix, log) {
  const hash = createHash('sha256');
  for (const name of files) hash.update(readFileSync(new URL(`../../test/engines/${name}`, import.meta.url)));
  const key = `${prefix}${hash.digest('hex').slice(0, 16)}`;
  const dir = join(process.env.TIDEWATER_CACHE ?? join(homedir(), '.cache', 'tidewater'), 'engines', key);
  if (existsSync(join(dir, 'ready'))) return dir;
  log(`engines of ${files.join(' and ')} are not installed, and they make the data too; run npm run test:engines once`);
  return undefined;
}
