import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A directory for the tables of an example, which is gone when the example ends. */
export function workspace() {
  const directory = mkdtempSync(join(tmpdir(), 'tidewater-example-'));
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
