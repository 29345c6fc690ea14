import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { missingTool, obtainEngines } from '../engines.ts';
import { oraclePortVariable } from '../oracle.ts';

/** Vitest's global set-up of the project: one process with the other engines, and so one Spark driver, for all files of the run. */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  if ((process.env[oraclePortVariable] ?? '') !== '' || (await missingTool()) !== undefined) return undefined;
  const child = (await obtainEngines()).spawn('oracle_server.py', ['--listen']);
  if (child.stdin === null || child.stdout === null || child.stderr === null) throw new Error('the oracle has no pipes');
  child.stderr.resume();
  const ended = once(child, 'exit');
  const port = await portOf(child.stdout);
  if (port === undefined) throw new Error('the oracle ended before it listened');
  process.env[oraclePortVariable] = String(port);
  return async () => {
    Reflect.deleteProperty(process.env, oraclePortVariable);
    child.stdin?.end();
    await ended;
  };
}

async function portOf(stdout: NodeJS.ReadableStream): Promise<number | undefined> {
  for await (const line of createInterface({ input: stdout })) return (JSON.parse(line) as { readonly port: number }).port;
  return undefined;
}
