import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectFresh } from '../../support/generated-page.ts';
import { type KnownSetting, knownSettings, renderSettingsReference } from '../../support/settings-reference.ts';

const root = join(import.meta.dirname, '../../..');

/** Where names are only listed. */
const tables = /(key-tables|settled-values|property-catalogue)\.ts$/;

/** Sources without comments, in which a name that is read stands between quotes. */
const code = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .map((path) => join(root, 'src', path))
  .filter((path) => path.endsWith('.ts') && statSync(path).isFile() && !tables.test(path))
  .map((path) => readFileSync(path, 'utf8').replaceAll(/^\s*(\/\/|\/?\*).*$/gm, ''))
  .join('\n');

/** Options are listed in the files that read them: one occurrence is the list's. */
const listed = (of: string): number => (/^(reading|writing|a stream)/.test(of) ? 1 : 0);

function occurrences({ name, written }: KnownSetting): number {
  if (written !== undefined) return count(written);
  // A family of keys is read by how they begin.
  if (/[.…]$/.test(name)) {
    const begin = name.replace(/\.?…$|\.$/, '');
    return [`'${begin}'`, `'${begin}.'`, `'${begin}.\\n`].reduce((sum, text) => sum + count(text), 0);
  }
  // Settings of stores are read by the name they have in catalogs too, keys of Delta also by their shorter one.
  const names = [name, name.replace('tidewater.s3.', 's3.'), name.replace('spark.databricks.delta.', 'tidewater.delta.')];
  return [...new Set(names)].reduce((sum, each) => sum + count(`'${each}'`), 0);
}

function count(text: string): number {
  return code.split(text).length - 1;
}

describe('settings', () => {
  it.each(knownSettings().filter(({ withoutEffect }) => withoutEffect === undefined))('of $of: $name is read somewhere', (setting) => {
    expect(occurrences(setting)).toBeGreaterThan(listed(setting.of));
  });

  const parameters = [...code.matchAll(/\{ name: '(\w+)', type: '[\w-]+', required: \w+/g)].map(([, name = '']) => name);
  it.each([...new Set(parameters)])('the argument %s of procedures is read somewhere', (name) => {
    expect(count(`'${name}'`)).toBeGreaterThan(parameters.filter((each) => each === name).length);
  });

  it('are in the reference as the program has them', () => {
    expectFresh('docs/reference/settings.md', renderSettingsReference());
  });
});
