import { createServer } from 'node:net';

export function sleep(ms, { unref = false } = {}) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    if (unref) timer.unref();
  });
}

export async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The middle value; of an even number, the lower of the two. */
export function median(values) {
  const known = values.filter((value) => typeof value === 'number' && Number.isFinite(value)).sort((a, b) => a - b);
  return known.length === 0 ? undefined : known[(known.length - 1) >> 1];
}

const disturbedCores = 0.5;

/**
 * One figure a key: the median over the runs where it is a number, else the last run's value. Runs beside which the rest of the machine
 * used more than half a core are left out, unless all are.
 */
export function medians(all) {
  const calm = all.filter((run) => (run.foreignCores ?? 0) <= disturbedCores);
  const runs = calm.length > 0 ? calm : all;
  const last = runs.at(-1);
  const figures = Object.fromEntries(
    Object.keys(last).map((key) => [key, typeof last[key] === 'number' ? median(runs.map((run) => run[key])) : last[key]]),
  );
  return { ...figures, runs: all.length, calmRuns: calm.length };
}

export function round(value, digits = 0) {
  return value === undefined ? undefined : Number(value.toFixed(digits));
}

export const megabytes = (bytes) => Math.round(bytes / 2 ** 20);
