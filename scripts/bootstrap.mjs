// Brings a checkout to where it can run: packages installed, sources built. Plain JavaScript without dependencies, since it runs first.
// Safe to interrupt and to run again: the stamps that say "done" are written last. Everything it prints goes to standard error.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');

const minNode = [20, 19];
const packagesStamp = join(root, 'node_modules', '.tidewater-packages');
const buildStamp = join(root, 'dist', '.tidewater-build');
const lockFile = join(root, '.tidewater', 'bootstrap.lock');
const lockWaitMs = 600_000;
const lockPollMs = 200;
const progressMs = 2_000;

/** Installs and builds what is missing or changed; a second call has nothing to do and returns within milliseconds. */
export async function bootstrap() {
  requireNode();
  if (packagesAreFresh() && buildIsFresh()) return;
  await withLock(async () => {
    if (!packagesAreFresh()) await installPackages();
    if (!buildIsFresh()) await build();
  });
}

/** Stops with one line that says what to do when this Node cannot run the product. */
export function requireNode(version = process.versions.node) {
  const [major, minor] = version.split('.').map(Number);
  if (major > minNode[0] || (major === minNode[0] && minor >= minNode[1])) return;
  stop(`Tidewater needs Node.js ${minNode.join('.')} or later; this is ${version}. Install it with your version manager (nvm install 20).`);
}

function packagesAreFresh() {
  return readText(packagesStamp) === packagesKey();
}

/** Packages depend on the lock file, and compiled ones on Node's major version and the platform. */
function packagesKey() {
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  return `${lock} ${process.versions.modules} ${process.platform} ${process.arch}`;
}

async function installPackages() {
  const npm = process.env.npm_execpath;
  const [command, first] = npm?.endsWith('.js') ? [process.execPath, [npm]] : ['npm', []];
  // `ci` takes exactly what the lock file says. Some environments set NODE_ENV=production; the compiler is needed all the same.
  const args = [...first, 'ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  await run('installing packages (a minute or so, once)', command, args);
  writeFileSync(packagesStamp, packagesKey());
}

function buildIsFresh() {
  const stamp = readText(buildStamp);
  return stamp !== undefined && stamp === sourcesKey(sourceFiles());
}

async function build() {
  const files = sourceFiles();
  const key = sourcesKey(files);
  // A file that was deleted must not live on in the output.
  if (!sameFiles(readText(buildStamp), key)) rmSync(join(root, 'dist'), { recursive: true, force: true });
  else rmSync(buildStamp, { force: true });
  await run('building', process.execPath, [join(root, 'scripts', 'build.mjs')]);
  writeFileSync(buildStamp, key);
}

function sourceFiles() {
  const found = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true });
  const sources = found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath ?? entry.path, entry.name));
  return [
    ...sources.sort(),
    join(root, 'tsconfig.json'),
    join(root, 'tsconfig.build.json'),
    join(root, 'scripts', 'build.mjs'),
    join(root, 'package-lock.json'),
  ];
}

/** Two lines: which files there are, and what state they are in. */
function sourcesKey(files) {
  const names = createHash('sha256');
  const states = createHash('sha256');
  for (const file of files) {
    const { mtimeMs, size } = statSync(file);
    names.update(`${relative(root, file)}\n`);
    states.update(`${mtimeMs} ${size}\n`);
  }
  return `${names.digest('hex')}\n${states.digest('hex')}\n`;
}

function sameFiles(stamp, key) {
  return stamp !== undefined && stamp.split('\n')[0] === key.split('\n')[0];
}

/** Runs a program; says what it is doing, how long already when that is longer than two seconds, and its output when it fails. */
async function run(label, command, args) {
  const started = Date.now();
  const seconds = () => `${((Date.now() - started) / 1000).toFixed(0)} s`;
  const terminal = process.stderr.isTTY === true;
  process.stderr.write(terminal ? `${label} …` : `${label} …\n`);
  let ticks = 0;
  const ticker = setInterval(() => {
    ticks += 1;
    if (terminal) process.stderr.write(`\r${label} … ${seconds()}`);
    else if (ticks % 5 === 0) process.stderr.write(`${label} … ${seconds()}\n`);
  }, progressMs);
  const output = [];
  const code = await new Promise((done) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.on('data', (chunk) => output.push(chunk));
    child.stderr.on('data', (chunk) => output.push(chunk));
    child.once('error', (error) => {
      output.push(Buffer.from(`${error.message}\n`));
      done(1);
    });
    child.once('close', (exitCode) => done(exitCode ?? 1));
  });
  clearInterval(ticker);
  if (terminal) process.stderr.write('\r\u001b[K');
  if (code === 0) {
    process.stderr.write(`${label}: done in ${seconds()}\n`);
    return;
  }
  process.stderr.write(Buffer.concat(output));
  stop(`${label} failed (${command} ${args.join(' ')})`);
}

/** One bootstrap of a checkout at a time; a lock whose process is gone is ignored. */
async function withLock(action) {
  mkdirSync(dirname(lockFile), { recursive: true });
  const deadline = Date.now() + lockWaitMs;
  for (let told = false; !tryLock(); told = true) {
    if (Date.now() > deadline)
      stop(`another command has been preparing this checkout for ten minutes; delete ${lockFile} if there is none`);
    if (!told) process.stderr.write('waiting for another command that prepares this checkout …\n');
    await new Promise((resolvePromise) => setTimeout(resolvePromise, lockPollMs));
  }
  try {
    await action();
  } finally {
    rmSync(lockFile, { force: true });
  }
}

function tryLock() {
  try {
    const file = openSync(lockFile, 'wx');
    writeSync(file, String(process.pid));
    closeSync(file);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    const holder = Number(readText(lockFile));
    if (holder > 0 && !isAlive(holder)) rmSync(lockFile, { force: true });
    return false;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function readText(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

function stop(message) {
  process.stderr.write(`error: ${message}\n`);
  rmSync(lockFile, { force: true });
  process.exit(1);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bootstrap();
