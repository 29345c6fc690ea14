// Orders that come at a steady rate while a process is watched.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { megabytes, round, sleep } from './util.mjs';

const pollMs = 50;
const limitMs = 60_000;
const producerPath = fileURLToPath(new URL('live-orders.mjs', import.meta.url));

/** Runs the producer to its end, and answers what it says; with `keys` the orders are upserts over so many. */
export async function produceLive(brokers, { topic, rate, seconds, first, keys }) {
  const args = [producerPath, brokers.join(','), topic, rate, seconds, first, ...(keys === undefined ? [] : [keys])].map(String);
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) text += chunk;
  return JSON.parse(text);
}

/**
 * Loads a process for `warmSeconds`, until its table has these (start-up is another workload), then for `seconds`, until it has all, and stops it.
 * `rowsSeen` says how many the table has; `load` is what `produceLive` takes beside seconds and first. `figures` are what is the same for every such run.
 */
export async function measureLive(process, { brokers, load, warmSeconds, seconds, rowsSeen }) {
  const warmed = load.rate * warmSeconds;
  const total = warmed + load.rate * seconds;
  const warming = await produceLive(brokers, { ...load, seconds: warmSeconds, first: 0 });
  await until(() => rowsSeen() >= warmed, process);
  const before = process.sample();
  const startedMs = Date.now();
  const produced = await produceLive(brokers, { ...load, seconds, first: warmed });
  const after = process.sample();
  await until(() => rowsSeen() >= total, process);
  const { foreignCores, load1 } = process.surroundings();
  const runSeconds = (Date.now() - process.startedMs) / 1000;
  const exit = await process.stop();
  const figures = {
    cores: round((after.cpuSeconds - before.cpuSeconds) / ((after.atMs - before.atMs) / 1000), 3),
    peakRssMb: megabytes(process.peakRssBytes),
    producerLateMs: round(produced.latestMs),
    exit,
    // The producer is part of the experiment.
    foreignCores: round(Math.max(0, foreignCores - (warming.cpuSeconds + produced.cpuSeconds) / runSeconds), 2),
    load1,
  };
  return { warmed, total, startedMs, ticks: [...warming.ticks, ...produced.ticks], figures };
}

async function until(isReached, process) {
  const deadline = Date.now() + limitMs;
  while (!isReached() && process.running && Date.now() < deadline) await sleep(pollMs);
}
