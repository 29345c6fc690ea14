// The worker threads of the product, from the sources.
import './run-typescript.mjs';

await import('../../src/app/workers/batch-worker.ts');
