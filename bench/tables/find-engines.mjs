// The engines that the tests with other engines install (test/engines/engines.ts): interpreter and jars of the versions asked for.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** `undefined`, with the reason logged, where they are not installed. */
export function findEngines(log) {
  const hash = createHash('sha256');
  for (const name of ['requirements.txt', 'pom.xml']) hash.update(readFileSync(new URL(`../../test/engines/${name}`, import.meta.url)));
  const key = hash.digest('hex').slice(0, 16);
  const dir = join(process.env.TIDEWATER_CACHE ?? join(homedir(), '.cache', 'tidewater'), 'engines', key);
  if (existsSync(join(dir, 'ready'))) return { python: join(dir, 'venv', 'bin', 'python'), jars: join(dir, 'jars') };
  log('the other engines are not installed, and they make the data too; run npm run test:engines once');
  return undefined;
}
