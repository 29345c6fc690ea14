import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { defaultCacheDir } from '../../src/app/embedded/cache-dir.ts';
import { freePort } from '../../src/app/embedded/free-port.ts';
import { findOnPath, runCommand } from '../../src/app/embedded/run-command.ts';
import { describeError } from '../../src/base/errors.ts';
import { RandomIdSource } from '../../src/base/ids.ts';
import { SystemClock } from '../../src/base/system-clock.ts';
import { SystemRandom } from '../../src/base/system-random.ts';
import { type ObjectStoreOpener, objectStoreOpener } from '../../src/storage/open-object-store.ts';
import type { StorageProperties } from '../../src/storage/s3/s3-settings.ts';
import { removeDirectory, temporaryDirectory } from './servers.ts';

/**
 * `gofakes3`: in memory, built in seconds; checks no signatures, and ignores the condition when an upload in parts is completed.
 * `versitygw`: files below a directory, answers as AWS does in all that matters here; minutes to build, once.
 */
export type S3ServerKind = 'gofakes3' | 'versitygw';

const modules: Readonly<Record<S3ServerKind, { readonly module: string; readonly version: string }>> = {
  gofakes3: { module: 'github.com/johannesboyne/gofakes3/cmd/gofakes3', version: 'v1.2.0' },
  versitygw: { module: 'github.com/versity/versitygw/cmd/versitygw', version: 'v1.8.0' },
};
const readyTimeoutMs = 20_000;
const accessKeyId = 'tidewater';
const secretAccessKey = 'tidewater-secret';

/** Ends the server when our end of the pipe is closed, however we end. */
const keeper = '"$@" & server=$!; cat > /dev/null; kill -9 $server; wait $server 2> /dev/null';

/** A server of one test file, on a loopback port. */
export interface S3Server {
  readonly kind: S3ServerKind;
  readonly endpoint: string;
  /** A bucket that is there. */
  readonly bucket: string;
  /** What a user would set to reach it; another endpoint when something stands in between. */
  properties(endpoint?: string): StorageProperties;
  opener(endpoint?: string, more?: StorageProperties): ObjectStoreOpener;
  /** Another pair that the server takes for everything, until it is removed. Of versitygw only. */
  addAccount(name: string): Promise<StorageProperties>;
  removeAccount(name: string): Promise<void>;
  stop(): Promise<void>;
}

/**
 * The program of a server, built once into the cache; `undefined` without a Go compiler, said aloud. In a CI run that is an error: the tests
 * must not pass by not running.
 */
export async function obtainS3Server(kind: S3ServerKind): Promise<string | undefined> {
  const { module, version } = modules[kind];
  const program = join(defaultCacheDir(), 'bin', `${kind}-${version}`);
  if (existsSync(program)) return program;
  const go = findOnPath('go');
  try {
    if (go === undefined) throw new TypeError('there is no go on the PATH');
    console.error(`building ${kind} ${version} with go install (once; versitygw takes minutes)`);
    const partial = `${program}.partial-${process.pid}`;
    mkdirSync(partial, { recursive: true });
    try {
      await runCommand(go, ['install', '-ldflags', '-s -w', `${module}@${version}`], { env: { ...process.env, GOBIN: partial } });
      renameSync(join(partial, kind), program);
    } finally {
      rmSync(partial, { recursive: true, force: true });
    }
    return program;
  } catch (error) {
    if ((process.env['CI'] ?? '') !== '') throw error;
    console.error(`\n!!! NOT TESTED against ${kind}: ${describeError(error)}. Install Go to run these tests. !!!\n`);
    return undefined;
  }
}

/** Starts a server with an empty bucket. */
export async function startS3Server(kind: S3ServerKind, program: string): Promise<S3Server> {
  const dir = temporaryDirectory(kind);
  const port = await freePort(undefined);
  const child = spawn('sh', ['-c', keeper, 'sh', program, ...argumentsOf(kind, dir, port)], {
    cwd: dir,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { ...process.env, ROOT_ACCESS_KEY: accessKeyId, ROOT_SECRET_KEY: secretAccessKey },
  });
  const endpoint = `http://127.0.0.1:${port}`;
  const stop = async (): Promise<void> => {
    await ended(child);
    removeDirectory(dir);
  };
  const properties = (at = endpoint): StorageProperties => ({
    's3.endpoint': at,
    's3.region': 'us-east-1',
    's3.access-key-id': accessKeyId,
    's3.secret-access-key': secretAccessKey,
  });
  const clock = new SystemClock();
  const ids = new RandomIdSource(new SystemRandom());
  const bucket = 'tidewater-tests';
  try {
    await createBucket(endpoint, bucket);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    kind,
    endpoint,
    bucket,
    properties,
    addAccount: async (name) => {
      const secret = `secret-of-${name}`;
      await administer(program, endpoint, ['create-user', '--access', name, '--secret', secret, '--role', 'admin']);
      return { 's3.access-key-id': name, 's3.secret-access-key': secret };
    },
    removeAccount: (name) => administer(program, endpoint, ['delete-user', '--access', name]),
    opener: (at, more) => objectStoreOpener({ clock, ids, properties: { ...properties(at), ...more } }),
    stop,
  };
}

function argumentsOf(kind: S3ServerKind, dir: string, port: number): readonly string[] {
  const address = `127.0.0.1:${port}`;
  if (kind === 'gofakes3') return ['-host', address, '-backend', 'memory', '-quiet'];
  const [data = '', meta = '', iam = ''] = ['data', 'meta', 'iam'].map((name) => join(dir, name));
  for (const place of [data, meta, iam]) mkdirSync(place, { recursive: true });
  // Accounts that are removed are gone at once.
  const accounts = ['--iam-dir', iam, '--iam-cache-disable'];
  return ['--port', address, ...accounts, '--quiet', '--keep-alive', 'posix', '--sidecar', meta, data];
}

async function administer(program: string, endpoint: string, command: readonly string[]): Promise<void> {
  const credentials = ['--access', accessKeyId, '--secret', secretAccessKey];
  await runCommand(program, ['admin', ...credentials, '--endpoint-url', endpoint, ...command]);
}

async function createBucket(endpoint: string, bucket: string): Promise<void> {
  const credentials = { accessKeyId, secretAccessKey };
  const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials, maxAttempts: 1 });
  try {
    const deadline = performance.now() + readyTimeoutMs;
    for (;;) {
      try {
        await client.send(new CreateBucketCommand({ Bucket: bucket }));
        return;
      } catch (error) {
        if (performance.now() > deadline) throw error;
        await sleep(50);
      }
    }
  } finally {
    client.destroy();
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((done) => child.once('exit', done));
  child.stdin?.end();
  await gone;
}
