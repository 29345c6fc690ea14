import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** A checked-in file is what the program would write now. With `UPDATE=1` in the environment it is written first. */
export function expectFresh(path: string, rendered: string): void {
  if (process.env['UPDATE'] === '1') writeFileSync(join(root, path), rendered);
  expect(readFileSync(join(root, path), 'utf8')).toBe(rendered);
}
