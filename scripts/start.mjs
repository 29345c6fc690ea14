// `npm start`: prepare the checkout, then serve the demonstration. `npm start -- --format iceberg` writes an Iceberg table, in a folder of its
// own; `--once --json` and all other flags of `serve` pass through.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bootstrap, root } from './bootstrap.mjs';

await bootstrap();

const given = process.argv.slice(2);
const format = taken('--format') ?? 'delta';
if (format !== 'delta' && format !== 'iceberg') {
  process.stderr.write(`error: --format is delta or iceberg, not "${format}"\n`);
  process.exit(2);
}
const names = (flag) => given.some((argument) => argument === flag || argument.startsWith(`${flag}=`));
const file = format === 'iceberg' ? 'development-iceberg.yaml' : 'development.yaml';
const config = names('--config') ? [] : ['--config', join(root, 'config', file)];
const main = join(root, 'dist', 'main.js');

// The command runs in this process, so that signals, exit code and memory are its own.
process.argv = [process.execPath, main, 'serve', ...config, '--demo', ...given];
await import(pathToFileURL(main).href);

/** Takes a flag and its value out of the arguments. */
function taken(flag) {
  const at = given.findIndex((argument) => argument === flag || argument.startsWith(`${flag}=`));
  if (at < 0) return undefined;
  const [argument] = given.splice(at, 1);
  return argument.includes('=') ? argument.slice(argument.indexOf('=') + 1) : given.splice(at, 1)[0];
}
