import { isServiceError } from '../base/errors.ts';
import type { TableObject } from '../table/table-object.ts';
import type { AuditFinding, AuditFindings } from './audit-findings.ts';

export interface FilesAudit {
  readonly objects: number;
  /** Those whose rows or positions the log does not count, or whose format is not looked into. */
  readonly uncounted: number;
}

/** Objects looked at at the same time. */
const objectsAtOnce = 16;

/** Every object is there, has its size, begins and ends as its format wants, and counts what the log says. Adds what is not so to `findings`. */
export async function auditFiles(objects: AsyncIterable<TableObject>, findings: AuditFindings, signal?: AbortSignal): Promise<FilesAudit> {
  let [count, uncounted] = [0, 0];
  let pending: TableObject[] = [];
  const checkPending = async (): Promise<void> => {
    const checks = await Promise.all(pending.map((object) => check(object, signal)));
    pending = [];
    for (const { counted, finding } of checks) {
      if (finding !== undefined) findings.add(finding);
      if (!counted) uncounted += 1;
    }
  };
  for await (const object of objects) {
    count += 1;
    pending.push(object);
    if (pending.length === objectsAtOnce) await checkPending();
  }
  await checkPending();
  return { objects: count, uncounted };
}

interface Checked {
  readonly counted: boolean;
  readonly finding?: AuditFinding;
}

async function check(object: TableObject, signal: AbortSignal | undefined): Promise<Checked> {
  try {
    const sizeBytes = await object.head(signal);
    if (sizeBytes === undefined) return broken(object, 'is gone');
    if (object.sizeBytes !== undefined && sizeBytes !== object.sizeBytes)
      return broken(object, `has ${sizeBytes} bytes, the log says ${object.sizeBytes}`);
    const count = await object.inspect(sizeBytes, signal);
    if (object.count === undefined || count === undefined) return { counted: count === undefined };
    return count === object.count ? { counted: true } : broken(object, `holds ${count}, the log says ${object.count}`);
  } catch (error) {
    if (isServiceError(error, 'unsupported')) return { counted: false };
    if (isServiceError(error, 'corrupt') || isServiceError(error, 'not-found') || isServiceError(error, 'invalid'))
      return broken(object, `cannot be read: ${error.message}`);
    throw error;
  }
}

function broken({ noun, path }: TableObject, text: string): Checked {
  return { counted: true, finding: { level: 'error', version: undefined, rule: 'file', text: `${noun} "${path}" ${text}` } };
}
