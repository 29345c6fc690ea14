// Writes package-lock.json so that it names the binaries of every platform, whatever the registry at hand serves: npm leaves out an optional
// package that it cannot fetch, and `npm ci` of npm 11 then refuses the file on every machine. What npm cannot find is added from the name
// that its parent gives it, without a checksum. Run it after each change of a dependency: `node scripts/complete-lockfile.mjs`.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(fileURLToPath(new URL('..', import.meta.url)));
const lockPath = join(root, 'package-lock.json');

const systems = 'android|darwin|freebsd|linux|openharmony|win32';
const processors = 'arm64|arm|ia32|ppc64|riscv64|s390x|x64';
const platformName = new RegExp(`(?:^|[-/])(?<os>${systems})-(?<cpu>${processors})(?:-(?<abi>[a-z]+))?$`);
const libraries = { gnu: 'glibc', musl: 'musl' };

/** The lockfile with an entry for each optional dependency that it names; entries that are there stay as they are. */
export function completeLockfile(lock) {
  const packages = { ...lock.packages };
  for (const [parent, name, version] of missingOptionals(lock)) {
    const free = packages[`node_modules/${name}`] === undefined;
    packages[free ? `node_modules/${name}` : `${parent}/node_modules/${name}`] = entryOf(lock, lock.packages[parent], name, version);
  }
  const sorted = Object.entries(packages).sort(([a], [b]) => a.localeCompare(b, 'en'));
  return { ...lock, packages: Object.fromEntries(sorted) };
}

/** Optional dependencies without an entry where Node would look for them, as [parent, name, version]. */
export function missingOptionals({ packages }) {
  return Object.entries(packages).flatMap(([parent, { optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies)
      .filter(([name]) => placesOf(parent, name).every((place) => packages[place] === undefined))
      .map(([name, version]) => [parent, name, version]),
  );
}

/** What a package's name says of the platform it is for; undefined where it names none. */
export function platformOf(name) {
  const { os, cpu, abi } = platformName.exec(name)?.groups ?? {};
  if (os === undefined) return undefined;
  return { os: [os], cpu: [cpu], ...(libraries[abi] === undefined ? {} : { libc: [libraries[abi]] }) };
}

function placesOf(parent, name) {
  const places = [];
  for (let at = parent; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    places.push(`${at === '' ? '' : `${at}/`}node_modules/${name}`);
    if (!at.includes('/node_modules/')) return at === '' ? places : [...places, `node_modules/${name}`];
  }
}

function entryOf(lock, parent, name, version) {
  const platform = platformOf(name);
  if (platform === undefined)
    throw new Error(`${name} is missing in the lockfile and its name says no platform: fetch it with npm install`);
  if (!/^\d/.test(version)) throw new Error(`${name} is missing in the lockfile and its version ${version} is a range`);
  const { os, cpu, libc = libraryOfSiblings(lock, parent, name) } = platform;
  const scope = Object.fromEntries(['dev', 'devOptional'].filter((flag) => parent[flag] === true).map((flag) => [flag, true]));
  return { version, cpu, ...scope, ...(libc === undefined ? {} : { libc }), optional: true, os };
}

/** A Linux package without an ending is for the library that its known sibling without an ending is for. */
function libraryOfSiblings({ packages }, parent, name) {
  const bare = new RegExp(`-linux-(?:${processors})$`);
  if (!bare.test(name)) return undefined;
  const siblings = Object.keys(parent.optionalDependencies).filter((sibling) => bare.test(sibling));
  return siblings.map((sibling) => packages[`node_modules/${sibling}`]?.libc).find((libc) => libc !== undefined);
}

function main() {
  const before = JSON.parse(readFileSync(lockPath, 'utf8'));
  // Entries without a checksum are ours: npm is asked for them again, since it records the checksum where a registry serves the package.
  const fetched = Object.entries(before.packages).filter(([path, entry]) => path === '' || entry.integrity !== undefined);
  write({ ...before, packages: Object.fromEntries(fetched) });
  execFileSync('npm', ['install', '--package-lock-only', '--ignore-scripts'], { cwd: root, stdio: 'inherit' });
  const found = JSON.parse(readFileSync(lockPath, 'utf8'));
  write(completeLockfile(found));
  process.stderr.write(`${missingOptionals(found).length} packages of other platforms added without a checksum\n`);
}

function write(lock) {
  writeFileSync(lockPath, `${JSON.stringify(lock, undefined, 2)}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
