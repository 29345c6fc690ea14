import type { OpenEngine } from '../../src/engine/engine.ts';

/** For what must not need the engine. */
export const noEngine: OpenEngine = () => Promise.reject(new TypeError('the engine is not needed here'));
