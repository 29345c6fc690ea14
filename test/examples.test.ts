import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';

const root = new URL('..', import.meta.url).pathname;
const folder = join(root, 'examples');
const examples = readdirSync(folder)
  .filter((name) => /^\d\d-.*\.mjs$/.test(name))
  .sort();
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** What the comment at an example's end says it prints. */
function announced(text: string): string | undefined {
  return /\n\/\* Prints:\n([\s\S]*)\*\/\n$/.exec(text)?.[1];
}

/** What stands between `// readme: begin` and `// readme: end`, without its indentation. */
function snippet(text: string): string {
  const [, indent = '', lines = ''] = /^( *)\/\/ readme: begin\n([\s\S]*?)^ *\/\/ readme: end$/m.exec(text) ?? [];
  return lines.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
}

describe('the examples', () => {
  beforeAll(() => {
    if (!existsSync(join(root, 'dist', 'index.js')))
      throw new Error('the examples run the built package: node scripts/bootstrap.mjs builds it');
  });

  it('are numbered from one without gaps', () => {
    expect(examples.map((name) => Number(name.slice(0, 2)))).toEqual(examples.map((_, index) => index + 1));
    expect(examples.length).toBeGreaterThan(10);
  });

  it.each(examples)(
    '%s prints what it says, as a program of its own',
    async (name) => {
      const { stdout, stderr } = await promisify(execFile)(process.execPath, [join(folder, name)], { cwd: root });
      expect(stderr).toBe('');
      expect(stdout).toBe(announced(read(join('examples', name))));
    },
    120_000,
  );

  it('are what the readme shows of the library', () => {
    const shown = [...read('README.md').matchAll(/^<!-- (examples\/\S+) -->\n```js\n([\s\S]*?)^```$/gm)];
    expect(shown.map(([, path]) => path)).toEqual(examples.map((name) => `examples/${name}`));
    for (const [, path = '', code] of shown) expect(code, path).toBe(snippet(read(path)));
  });
});
