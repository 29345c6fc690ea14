// `npm start`: prepare the checkout, then serve the demonstration. `npm start -- --once --json` and all other flags of `serve` pass through.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bootstrap, root } from './bootstrap.mjs';

await bootstrap();

const given = process.argv.slice(2);
const names = (flag) => given.some((argument) => argument === flag || argument.startsWith(`${flag}=`));
const config = names('--config') ? [] : ['--config', join(root, 'config', 'development.yaml')];
const main = join(root, 'dist', 'cli', 'main.js');

// The command runs in this process, so that signals, exit code and memory are its own.
process.argv = [process.execPath, main, 'serve', ...config, '--demo', ...given];
await import(pathToFileURL(main).href);
