import { AnalysisException } from '../../base/analysis-exception.ts';
import type { OpenObjectStore } from '../../storage/object-store.ts';

/** Files of one read at most. */
const maxFiles = 100_000;

/**
 * The files at an absolute path, in order: the file itself, or everything below a directory whose path has no part that begins with `_` or
 * `.` (a partition directory `_c=1` counts). `undefined`: there is nothing.
 */
export async function listDataFiles(
  openStore: OpenObjectStore,
  path: string,
  signal: AbortSignal | undefined,
): Promise<readonly string[] | undefined> {
  const at = path.lastIndexOf('/');
  const name = path.slice(at + 1);
  if (name !== '' && (await openStore(path.slice(0, at) || '/').head(name, signal)) !== undefined) return [path];
  const files: string[] = [];
  let anything = false;
  for await (const object of openStore(path).list({ prefix: '' }, signal)) {
    anything = true;
    if (object.sizeBytes > 0 && !object.path.split('/').some(isHidden)) files.push(`${path.replace(/\/+$/, '')}/${object.path}`);
    if (files.length > maxFiles) throw tooMany(path);
  }
  return anything ? files : undefined;
}

function isHidden(part: string): boolean {
  return part.startsWith('.') || (part.startsWith('_') && !part.includes('='));
}

function tooMany(path: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'TOO_MANY_FILES',
    kind: 'unsupported',
    message: `${path} holds more than ${maxFiles} files`,
    hint: 'read its parts one by one, or make it a table',
  });
}
