import { join } from 'node:path';
import { serviceError } from '../../base/errors.ts';
import { findOnPath, isExecutable, runCommand } from './run-command.ts';

const minJava = 17;

/**
 * A Java runtime that can run the broker: `JAVA_HOME`, else the PATH.
 *
 * @throws ServiceError `JAVA_NOT_FOUND` or `JAVA_TOO_OLD` (unsupported) with what to install.
 */
export async function findJava(signal?: AbortSignal, env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const home = env['JAVA_HOME'];
  const fromHome = home === undefined || home === '' ? undefined : join(home, 'bin', 'java');
  const java = fromHome !== undefined && isExecutable(fromHome) ? fromHome : findOnPath('java', env['PATH']);
  if (java === undefined) {
    throw serviceError.unsupported(
      'JAVA_NOT_FOUND',
      'the embedded Kafka broker needs Java, and there is none in JAVA_HOME or on the PATH',
      { hint: javaHint },
    );
  }
  const text = await runCommand(java, ['-version'], { signal });
  const major = javaMajor(text);
  if (major === undefined || major < minJava) {
    throw serviceError.unsupported(
      'JAVA_TOO_OLD',
      `the embedded Kafka broker needs Java ${minJava} or later, ${java} is ${major === undefined ? 'of unknown version' : `Java ${major}`}`,
      { hint: javaHint },
    );
  }
  return java;
}

/** The major version in the output of `java -version`: `1.8.0_392` is 8, `17.0.15` is 17. */
export function javaMajor(versionText: string): number | undefined {
  const match = /version "(?:1\.)?(\d+)/.exec(versionText);
  return match?.[1] === undefined ? undefined : Number(match[1]);
}

const javaHint =
  'install a Java 17 runtime (Debian: apt-get install openjdk-17-jre-headless; macOS: brew install openjdk@17) or set KAFKA_BROKERS to a running cluster';
