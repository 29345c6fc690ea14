import { mkdirSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

const root = resolve(fileURLToPath(new URL('../..', import.meta.url)));
let made: Promise<URL> | undefined;

/** The worker threads of the product as one file, made from the sources once: a thread that opens eight hundred takes seconds to start. */
export function bundledWorker(): Promise<URL> {
  made ??= bundle();
  return made;
}

async function bundle(): Promise<URL> {
  const folder = join(root, 'node_modules', '.cache', 'tidewater-tests');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `batch-worker-${process.pid}.js`);
  const bundled = await rolldown({
    cwd: root,
    input: join(root, 'src', 'app', 'workers', 'batch-worker.ts'),
    platform: 'node',
    external: (id) => !/^[.#]/.test(id) && !isAbsolute(id),
  });
  await bundled.write({ file, format: 'esm', codeSplitting: false });
  await bundled.close();
  return pathToFileURL(file);
}
