// Operations on tables, beside other engines, each in a process of its own over the same files. Options: cases or formats by name,
// `--scale 20` (sizes divided by it), `--engines tidewater,delta-rs,pyiceberg,duckdb,spark`, `--runs 3`, `--budget 600` (seconds, after which
// Spark's turn ends).
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MeasuredProcess } from '../lib/process-tree.mjs';
import { medians, megabytes, round, sleep } from '../lib/util.mjs';
import { cases, casesNamed } from './cases.mjs';
import { findEngines } from './find-engines.mjs';
import { megabytesOf, parquetFiles, placeOf } from './tables-on-disk.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const caseTimeoutMs = 180_000;
// Beyond this an engine's case is not measured again: its figures are long ones.
const shortSeconds = 15;
const programs = { delta: { ours: 'ours.mjs', peer: 'peer.py' }, iceberg: { ours: 'iceberg-ours.mjs', peer: 'iceberg_peer.py' } };

export async function runTables(context, { names, scale, engines, budgetSeconds }) {
  const found = findEngines((message) => context.log(message));
  const chosen = casesNamed(names).filter((name) => found[cases[name].format] !== undefined);
  const bench = { context, scale, found, work: join(context.root, 'tables', 'work') };
  const startedMs = Date.now();
  const results = new Map();
  const ofCase = (name) => engines.filter((engine) => cases[name].engines.includes(engine) && scale >= (cases[name].fromScale?.[engine] ?? 1));
  for (const name of chosen) {
    for (const engine of ofCase(name).filter((each) => each !== 'spark')) await measure(bench, results, name, engine);
  }
  // Spark starts slowly and is measured once, with the time that is left.
  for (const name of chosen.filter((each) => ofCase(each).includes('spark') && found[cases[each].format].jars !== undefined)) {
    if ((Date.now() - startedMs) / 1000 > budgetSeconds) context.log(`${name}: no time left for Spark`);
    else await measure(bench, results, name, 'spark');
  }
  const table = chosen.flatMap((name) => ofCase(name).flatMap((engine) => results.get(`${name} ${engine}`) ?? []));
  for (const result of table) context.emit(result);
  context.table(table.map((result) => rowOf(result, results)));
  appendRatios(context, engines, results);
}

async function measure(bench, results, name, engine) {
  const { context, scale } = bench;
  const runs = [];
  const wanted = engine === 'spark' ? 1 : context.options.runs;
  for (let spent = 0; runs.length < wanted && spent < shortSeconds; ) {
    const startedMs = Date.now();
    try {
      runs.push(await runOnce(bench, name, engine));
    } catch (error) {
      context.log(`${name} ${engine}: ${error.message}`);
      break;
    }
    spent += (Date.now() - startedMs) / 1000;
  }
  if (runs.length === 0) return;
  const result = { workload: 'tables', case: name, engine, scale, ...medians(runs) };
  const reference = results.get(`${name} tidewater`);
  if (reference !== undefined && !sameResult(reference.check, result.check)) result.differs = true;
  results.set(`${name} ${engine}`, result);
  context.log(`${name} ${engine}: ${result.seconds} s, ${result.cpuSeconds} CPU-s, ${result.peakMb} MB${result.differs ? ', ANOTHER RESULT' : ''}`);
}

const sameResult = (ours, theirs) => JSON.stringify(ours) === JSON.stringify(theirs);

async function runOnce(bench, name, engine) {
  const { context } = bench;
  const { format, changes, setup } = cases[name];
  rmSync(bench.work, { recursive: true, force: true });
  mkdirSync(bench.work, { recursive: true });
  const place = placeOf(bench, cases[name]);
  const ours = (what) => [here(programs[format].ours), what, ...place.arguments];
  if (setup !== undefined) execFileSync(process.execPath, ours(setup), { timeout: caseTimeoutMs });
  await context.quiet();
  const running = new MeasuredProcess({ ...program(bench, name, engine, place), logFile: join(bench.work, 'log') });
  const figures = await finished(running, join(bench.work, 'log'));
  const result = { ...figuresOf(bench, name, figures, place.table), ...(changes ? leftBehind(name, place.table) : {}) };
  if (cases[name].sums) result.check = { ...result.check, ...sumsOf(execFileSync(process.execPath, ours('sums'), { timeout: caseTimeoutMs })) };
  place.putBack?.();
  return result;
}

function program({ found }, name, engine, place) {
  const { format } = cases[name];
  const { python, sparkPython, jars } = found[format];
  if (engine === 'tidewater') return { command: process.execPath, args: [here(programs[format].ours), name, ...place.arguments], env: {} };
  const env = { TIDEWATER_SPARK_MEMORY: '3g', PYTHONDONTWRITEBYTECODE: '1', ...(jars === undefined ? {} : { TIDEWATER_ENGINE_JARS: jars }) };
  return { command: engine === 'spark' ? sparkPython : python, args: [here(programs[format].peer), engine, name, ...place.arguments], env };
}

/** Waits for the program's end. @throws Error for a program that failed or took too long. */
async function finished(running, logFile) {
  const late = sleep(caseTimeoutMs, { unref: true }).then(() => 'late');
  const end = await Promise.race([running.exited, late]);
  const surroundings = running.surroundings();
  const code = await running.stop();
  const log = readFileSync(logFile, 'utf8');
  const line = log.split('\n').find((each) => each.startsWith('RESULT '));
  if (end === 'late') throw new Error(`took more than ${caseTimeoutMs / 1000} s`);
  if (line === undefined) throw new Error(`ended with ${code}: ${log.trim().split('\n').slice(-3).join(' | ').slice(0, 500)}`);
  const { beganMs, endedMs, check, medianMs } = JSON.parse(line.slice('RESULT '.length));
  const cpuSeconds = running.cpuSecondsAt(endedMs) - running.cpuSecondsAt(beganMs);
  return { seconds: (endedMs - beganMs) / 1000, cpuSeconds, peakBytes: running.peakRssBytes, surroundings, check, medianMs };
}

function figuresOf({ scale }, name, { seconds, cpuSeconds, peakBytes, surroundings, check, medianMs }, table) {
  const { unit, count, fixedCount } = cases[name];
  const amount = fixedCount ?? (unit === 'MB' ? megabytesOf(table) : count / scale);
  return {
    seconds: round(seconds, 3),
    cpuSeconds: round(cpuSeconds, 2),
    peakMb: megabytes(peakBytes),
    unit,
    perSecond: round(amount / seconds, 1),
    perCpuSecond: round(amount / Math.max(0.01, cpuSeconds), 1),
    ...(medianMs === undefined ? {} : { medianMs: round(medianMs, 1) }),
    check,
    foreignCores: surroundings.foreignCores,
    load1: surroundings.load1,
  };
}

/** What the operation left of files, as far as it says something about its work. */
function leftBehind(name, table) {
  const files = parquetFiles(table);
  if (name === 'vacuum') return { orphansLeft: files.filter((file) => file.includes('orphan')).length };
  return name === 'optimize' || name.startsWith('iceberg-') ? { filesThere: files.length } : {};
}

function sumsOf(output) {
  const line = String(output).split('\n').find((each) => each.startsWith('SUMS '));
  return JSON.parse(line.slice('SUMS '.length));
}

function rowOf(result, results) {
  const ours = results.get(`${result.case} tidewater`);
  const { seconds, cpuSeconds, peakMb, unit, perSecond, perCpuSecond, medianMs, foreignCores, runs } = result;
  const times = ours === undefined || result.engine === 'tidewater' ? undefined : round(seconds / ours.seconds, 2);
  const timesCpu = ours === undefined || result.engine === 'tidewater' ? undefined : round(cpuSeconds / Math.max(0.01, ours.cpuSeconds), 2);
  return {
    case: result.case,
    engine: result.engine,
    's': seconds,
    'CPU-s': cpuSeconds,
    'peak MB': peakMb,
    unit,
    '/s': perSecond,
    '/CPU-s': perCpuSecond,
    'median ms': medianMs,
    'times our s': times,
    'times our CPU': timesCpu,
    runs,
    'foreign cores': foreignCores,
    result: result.differs ? 'DIFFERS' : 'same',
  };
}

/** How much more a commit takes in an old table than in a young one, by engine. */
function appendRatios(context, engines, results) {
  for (const engine of engines) {
    const [young, old] = ['iceberg-append-10', 'iceberg-append-1000'].map((name) => results.get(`${name} ${engine}`)?.medianMs);
    if (young !== undefined && old !== undefined) {
      context.emit({ workload: 'tables', ratio: 'commit at 1,000 snapshots / at 10', engine, young, old, value: round(old / young, 2) });
      context.log(`${engine}: a commit at 1,000 snapshots takes ${round(old / young, 2)} times that at 10`);
    }
  }
}
