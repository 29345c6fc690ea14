import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultCacheDir, fillCacheEntry } from '../../src/app/embedded/cache-dir.ts';
import { findJava } from '../../src/app/embedded/find-java.ts';
import { findOnPath, runCommand } from '../../src/app/embedded/run-command.ts';

export interface MavenJars {
  /** What they are, in the name of the directory. */
  readonly name: string;
  /** File that lists them. */
  readonly pom: string;
  /** For people who wait. */
  readonly about: string;
}

/** The directory of a server's jars: in the cache, fetched with Maven once. */
export async function obtainJars({ name, pom, about }: MavenJars): Promise<string> {
  const cacheDir = defaultCacheDir();
  const entry = `${name}-${createHash('sha256').update(readFileSync(pom)).digest('hex').slice(0, 16)}`;
  const target = join(cacheDir, entry);
  if (existsSync(target)) return target;
  console.error(`fetching ${about} with Maven, once …`);
  return await fillCacheEntry(cacheDir, entry, async (partial) => {
    const goals = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${partial}`];
    await runCommand(findOnPath('mvn') ?? 'mvn', ['-q', '-B', '-f', pom, ...goals]);
  });
}

/** What a server of Java cannot be had without; `undefined`: all is there. */
export async function missingForJars(): Promise<string | undefined> {
  if (findOnPath('mvn') === undefined) return 'Maven is missing';
  return await findJava().then(
    () => undefined,
    (error: unknown) => String(error),
  );
}
