// `node --import ./test/support/run-typescript.mjs file.ts`: runs the sources as they are in a process or worker of its own, on every
// supported Node. For tests that need a second process and no build.
import { register } from 'node:module';

register('./typescript-hooks.mjs', import.meta.url);
