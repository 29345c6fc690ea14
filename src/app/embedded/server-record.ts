import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, parseJson, printIndentedJson } from '../../base/bigint-json.ts';

/** What a server's directory remembers of it: which process serves it, who answers for that process, and its ports. */
export interface ServerRecord {
  /** The server process; 0 when it was stopped. */
  readonly pid: number;
  /** All ports, the client listener first. Taken again by the next start when they are free. */
  readonly ports: readonly number[];
  /** The process that stops the server when it ends. */
  readonly ownerPid: number;
  readonly ownerBirth: string;
}

const fileName = 'server.json';

/** The directory's record; `undefined` when there is none that can be read (it is a hint: a fresh start is always possible). */
export function readServerRecord(dir: string): ServerRecord | undefined {
  try {
    const value = parseJson(readFileSync(join(dir, fileName), 'utf8'), fileName);
    if (!isJsonObject(value)) return undefined;
    const { pid, ports, ownerPid, ownerBirth } = value;
    if (typeof pid !== 'number' || typeof ownerPid !== 'number' || typeof ownerBirth !== 'string' || !Array.isArray(ports))
      return undefined;
    return { pid, ownerPid, ownerBirth, ports: ports.filter((port) => typeof port === 'number') };
  } catch {
    return undefined;
  }
}

export function writeServerRecord(dir: string, record: ServerRecord): void {
  const path = join(dir, fileName);
  writeFileSync(`${path}.tmp`, `${printIndentedJson({ ...record })}\n`);
  renameSync(`${path}.tmp`, path);
}

/** Names the guard that may end an orphan; whoever writes last owns the server. */
export function writeOwnerToken(dir: string, token: string): void {
  writeFileSync(ownerTokenPath(dir), token);
}

export function removeOwnerToken(dir: string): void {
  rmSync(ownerTokenPath(dir), { force: true });
}

export function ownerTokenPath(dir: string): string {
  return join(dir, 'owner');
}
