// Operations on tables, beside delta-rs and Spark, each in a process of its own over the same files. Options: cases by name,
// `--scale 20` (sizes divided by it), `--engines tidewater,delta-rs,spark`, `--runs 3`, `--budget 660` (seconds, after which Spark's turn ends).
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MeasuredProcess } from '../lib/process-tree.mjs';
import { medians, megabytes, round, sleep } from '../lib/util.mjs';
import { cases } from './cases.mjs';
import { findEngines } from './find-engines.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const makeTimeoutMs = 300_000;
const caseTimeoutMs = 180_000;
// Beyond this an engine's case is not measured again: its figures are long ones.
const shortSeconds = 15;

export async function runTables(context, { names, scale, engines, budgetSeconds }) {
  const unknown = names.filter((name) => !(name in cases));
  if (unknown.length > 0) throw new Error(`no case ${unknown.join(', ')}; there are ${Object.keys(cases).join(', ')}`);
  const chosen = names.length === 0 ? Object.keys(cases) : names;
  const found = findEngines((message) => context.log(message));
  const bench = { context, scale, found, startedMs: Date.now(), budgetSeconds };
  const results = new Map();
  const first = engines.filter((engine) => engine !== 'spark');
  for (const name of chosen) {
    for (const engine of first) await measure(bench, results, name, engine);
  }
  // Spark starts slowly and is measured once, with the time that is left.
  for (const name of engines.includes('spark') ? chosen : []) {
    if ((Date.now() - bench.startedMs) / 1000 > budgetSeconds) context.log(`${name}: no time left for Spark`);
    else await measure(bench, results, name, 'spark');
  }
  const table = chosen.flatMap((name) => engines.flatMap((engine) => results.get(`${name} ${engine}`) ?? []));
  for (const result of table) context.emit(result);
  context.table(table.map((result) => rowOf(result, results)));
}

async function measure(bench, results, name, engine) {
  const { context, found, scale } = bench;
  const { leftOut = [] } = cases[name];
  if (leftOut.includes(engine) || found === undefined) return;
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
  if (reference !== undefined && JSON.stringify(reference.check) !== JSON.stringify(result.check)) result.differs = true;
  results.set(`${name} ${engine}`, result);
  context.log(`${name} ${engine}: ${result.seconds} s, ${result.cpuSeconds} CPU-s, ${result.peakMb} MB${result.differs ? ', ANOTHER RESULT' : ''}`);
}

async function runOnce(bench, name, engine) {
  const { context, found, scale } = bench;
  const { data: kind, changes, vectors, unit, count } = cases[name];
  const data = ensureData(bench, kind);
  const original = join(data, 'table');
  const work = join(context.root, 'tables', 'work');
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const table = changes ? join(work, 'table') : original;
  // Files never change, so that links serve as copies.
  if (changes) execFileSync('cp', ['-al', original, table]);
  if (vectors) execFileSync(process.execPath, [here('ours.mjs'), 'prepare-vectors', data, table], { timeout: caseTimeoutMs });
  await context.quiet();
  const logFile = join(work, 'log');
  const env = { TIDEWATER_ENGINE_JARS: found.jars, TIDEWATER_SPARK_MEMORY: '3g', PYTHONDONTWRITEBYTECODE: '1' };
  const peer = { command: found.python, args: [here('peer.py'), engine, name, data, table], env, logFile };
  const ours = { command: process.execPath, args: [here('ours.mjs'), name, data, table], env, logFile };
  const running = new MeasuredProcess(engine === 'tidewater' ? ours : peer);
  const late = sleep(caseTimeoutMs, { unref: true }).then(() => 'late');
  const end = await Promise.race([running.exited, late]);
  const surroundings = running.surroundings();
  const code = await running.stop();
  const line = readFileSync(logFile, 'utf8').split('\n').find((each) => each.startsWith('RESULT '));
  if (end === 'late') throw new Error(`took more than ${caseTimeoutMs / 1000} s`);
  if (line === undefined) throw new Error(`ended with ${code}: ${readFileSync(logFile, 'utf8').trim().split('\n').slice(-3).join(' | ').slice(0, 500)}`);
  const { beganMs, endedMs, check } = JSON.parse(line.slice('RESULT '.length));
  const seconds = (endedMs - beganMs) / 1000;
  const cpuSeconds = running.cpuSecondsAt(endedMs) - running.cpuSecondsAt(beganMs);
  const amount = unit === 'MB' ? dataMegabytes(original) : count / scale;
  return {
    seconds: round(seconds, 3),
    cpuSeconds: round(cpuSeconds, 2),
    peakMb: megabytes(running.peakRssBytes),
    unit,
    perSecond: round(amount / seconds, 1),
    perCpuSecond: round(amount / Math.max(0.01, cpuSeconds), 1),
    ...(changes ? leftBehind(name, table) : {}),
    check,
    foreignCores: surroundings.foreignCores,
    load1: surroundings.load1,
  };
}

/** What the operation left of files, as far as it says something about its work. */
function leftBehind(name, table) {
  if (name !== 'vacuum' && name !== 'optimize') return {};
  const files = readdirSync(table).filter((file) => file.endsWith('.parquet'));
  return name === 'vacuum' ? { orphansLeft: files.filter((file) => file.includes('orphan')).length } : { filesThere: files.length };
}

/** The data of a case, made once a scale. */
function ensureData({ context, scale, found }, kind) {
  const dir = join(context.root, 'tables', `data-${scale}`, kind);
  const complete = join(dir, 'complete');
  if (existsSync(complete)) return dir;
  context.log(`making the table "${kind}"`);
  mkdirSync(join(dir, '..'), { recursive: true });
  execFileSync(found.python, [here('make_data.py'), kind, dir, String(scale)], { stdio: ['ignore', 'ignore', 'inherit'], timeout: makeTimeoutMs });
  writeFileSync(complete, '');
  return dir;
}

function dataMegabytes(table) {
  const files = readdirSync(table).filter((file) => file.endsWith('.parquet'));
  return files.reduce((sum, file) => sum + statSync(join(table, file)).size, 0) / 1e6;
}

function rowOf(result, results) {
  const ours = results.get(`${result.case} tidewater`);
  const { seconds, cpuSeconds, peakMb, unit, perSecond, perCpuSecond, foreignCores, runs } = result;
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
    'times our s': times,
    'times our CPU': timesCpu,
    runs,
    'foreign cores': foreignCores,
    result: result.differs ? 'DIFFERS' : 'same',
  };
}
