import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { failpointNames } from '../src/base/failpoint.ts';

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

  it('asks for a format by name in its own folder only, and where a statement, a catalog or an API has its name', () => {
    const named = new Set([
      // CONVERT TO DELTA takes its own format's name too.
      'src/session/commands/convert-command.ts',
      // Spark's DeltaTable is of Delta tables.
      'src/session/delta-table-handle.ts',
      // Catalogs that hold Iceberg tables alone.
      'src/catalog/iceberg-catalog.ts',
    ]);
    const asked = /[=!]== '(delta|iceberg)'|case '(delta|iceberg)':|'(delta|iceberg)' [=!]==/;
    const found = sources.filter((path) => !/^src\/(delta|iceberg)\//.test(path) && asked.test(read(path)));
    expect(found.filter((path) => !named.has(path))).toEqual([]);
    expect(found).toHaveLength(named.size);
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

  it('has one version: of the package, of the chart and of the newest release in the changelog', () => {
    const { version } = JSON.parse(read('package.json')) as { readonly version: string };
    const released = [...read('CHANGELOG.md').matchAll(/^## (\d\S*)$/gm)].map((match) => match[1]);
    expect({
      chart: /^version: (.*)$/m.exec(read('helm/tidewater/Chart.yaml'))?.[1],
      app: /^appVersion: "(.*)"$/m.exec(read('helm/tidewater/Chart.yaml'))?.[1],
      released: released[0],
    }).toEqual({ chart: version, app: version, released: version });
  });

  it('is worked on with the oldest line of Node that it supports', () => {
    const { engines } = JSON.parse(read('package.json')) as { readonly engines: { readonly node: string } };
    expect(engines.node).toMatch(new RegExp(`^>=${read('.nvmrc').trim()}\\.`));
  });

  it('names every failpoint of the code in its page', () => {
    const rows = [...read('docs/spec/failpoints.md').matchAll(/^\| `(.*?)` \|/gm)].map((match) => match[1]);
    expect(rows.toSorted()).toEqual([...failpointNames].sort());
  });

  it('resolves every relative link of its pages', () => {
    const pages = ['README.md', 'ARCHITECTURE.md', 'CHANGELOG.md', 'CONTRIBUTING.md', ...filesBelow('docs')].filter((path) =>
      path.endsWith('.md'),
    );
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
