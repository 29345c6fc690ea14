import { readFileSync } from 'node:fs';
import { type OrcFile, readOrcFile } from '../../../../src/codec/orc/read/read-orc.ts';

/** A file of another writer; see files/README.md. */
export function goldenBytes(name: string): Uint8Array {
  return new Uint8Array(Buffer.from(readFileSync(new URL(`files/${name}.orc.base64`, import.meta.url), 'utf8'), 'base64'));
}

export function goldenFile(name: string): OrcFile {
  return readOrcFile(goldenBytes(name), { name });
}
