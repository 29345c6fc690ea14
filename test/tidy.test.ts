import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = new URL('..', import.meta.url).pathname;
const skipped = new Set(['node_modules', 'dist', '.git', '.tidewater', 'coverage']);

function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    if (skipped.has(entry.name)) return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const sources = filesBelow('src').filter((path) => path.endsWith('.ts'));

interface Lockfile {
  readonly packages: Readonly<Record<string, Platform & { readonly optional?: boolean; readonly integrity?: string }>>;
}
interface Platform {
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
}
interface LockfileScript {
  missingOptionals(lock: Lockfile): unknown[];
  completeLockfile(lock: Lockfile): Lockfile;
  platformOf(name: string): Platform | undefined;
}

describe('the repository', () => {
  it('has no file of source past 400 lines', () => {
    const long = sources.map((path) => [path, read(path).split('\n').length] as const).filter(([, lines]) => lines > 440);
    expect(long).toEqual([]);
  });

  it('has no unfinished marks in the source', () => {
    const mark = new RegExp(['TO', 'DO|FIX', 'ME|X', 'XX'].join(''));
    expect(sources.filter((path) => mark.test(read(path)))).toEqual([]);
  });

  it('names no package registry host and no download address in the lockfile', () => {
    expect(read('package-lock.json')).not.toMatch(/"resolved":\s*"https?:/);
  });

  it('has a lockfile with an entry for every platform that a package offers, as its name says', async () => {
    const script = (await import(join(root, 'scripts/complete-lockfile.mjs'))) as LockfileScript;
    const lock = JSON.parse(read('package-lock.json')) as Lockfile;
    expect(script.missingOptionals(lock)).toEqual([]);
    const known = Object.entries(lock.packages).filter(
      ([path, { optional }]) => optional === true && script.platformOf(path) !== undefined,
    );
    expect(known.length).toBeGreaterThan(100);
    for (const [path, { os, cpu, libc = script.platformOf(path)?.libc }] of known) {
      expect([path, { libc: script.platformOf(path)?.libc ?? libc, ...script.platformOf(path) }]).toEqual([path, { os, cpu, libc }]);
    }
  });

  it('completes a lockfile that lacks the packages of other platforms', async () => {
    const script = (await import(join(root, 'scripts/complete-lockfile.mjs'))) as LockfileScript;
    const whole = JSON.parse(read('package-lock.json')) as Lockfile;
    const fetched = Object.entries(whole.packages).filter(([path, { integrity }]) => path === '' || integrity !== undefined);
    expect(script.completeLockfile({ ...whole, packages: Object.fromEntries(fetched) })).toEqual(whole);
  });

  it('has a fresh reference of error codes', async () => {
    const generator = (await import(join(root, 'scripts/generate-error-reference.mjs'))) as { renderErrorReference(): string };
    expect(read('docs/reference/errors.md')).toBe(generator.renderErrorReference());
  });

  it('has a fresh page of what works, and a test for each row', async () => {
    const generator = (await import(join(root, 'scripts/generate-parity-reference.mjs'))) as { renderParityReference(): string };
    const page = generator.renderParityReference();
    expect(read('docs/reference/parity.md')).toBe(page);
    expect(page).not.toContain('| missing |');
  });

  it('names every failpoint of the code in its page', () => {
    const names = [...read('src/base/failpoint.ts').matchAll(/\| '([A-Z]\d)'/g)].map((match) => match[1]);
    const page = read('docs/spec/failpoints.md');
    expect(names.length).toBeGreaterThan(10);
    expect(names.filter((name) => !page.includes(`| ${String(name)} |`))).toEqual([]);
  });

  it('resolves every relative link of its pages', () => {
    const pages = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', ...filesBelow('docs')].filter((path) => path.endsWith('.md'));
    const all = new Set(filesBelow('.').map((path) => path.replace(/^\.\//, '')));
    const broken = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)]
        .map((match) => join(page, '..', match[1] ?? ''))
        .filter((target) => !all.has(target) && ![...all].some((path) => path.startsWith(`${target}/`)))
        .map((target) => `${page} -> ${target}`),
    );
    expect(broken).toEqual([]);
  });
});
