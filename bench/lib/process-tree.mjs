// CPU and memory of a program and everything it starts, read from /proc while it runs.
import { spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { cpuUsage } from 'node:process';
import { round, sleep } from './util.mjs';

const ticksPerSecond = 100;
const pageBytes = 4096;
const sampleMs = 100;

/** A program under measurement. CPU of threads that ended counts; memory is the sum over its processes, sampled ten times a second. */
export class MeasuredProcess {
  #seen = new Map();
  #timeline = [];
  #timer;
  #child;
  #exited;
  #othersBefore;
  #brokerPid;

  constructor({ command, args, env, logFile, brokerPid, onStdout }) {
    const log = openSync(logFile, 'w');
    this.#brokerPid = brokerPid;
    this.#othersBefore = machineUse(brokerPid);
    this.startedMs = Date.now();
    this.#child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['ignore', log, log] });
    closeSync(log);
    this.#exited = new Promise((resolve) => this.#child.once('exit', (code, signal) => resolve(code ?? signal)));
    this.#timer = setInterval(() => this.sample(), sampleMs);
    this.sample();
  }

  /** Resolves with the exit code or signal. */
  get exited() {
    return this.#exited;
  }

  get pid() {
    return this.#child.pid;
  }

  get running() {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  sample() {
    const processes = readProcesses();
    const members = descendants(processes, this.#child.pid);
    let rssBytes = 0;
    for (const pid of members) {
      const { cpuSeconds, rssBytes: own } = processes.get(pid);
      this.#seen.set(pid, Math.max(this.#seen.get(pid) ?? 0, cpuSeconds));
      rssBytes += own;
    }
    const cpuSeconds = [...this.#seen.values()].reduce((sum, value) => sum + value, 0);
    this.#timeline.push({ atMs: Date.now(), cpuSeconds, rssBytes });
    return this.#timeline.at(-1);
  }

  /** CPU-seconds used up to an instant, between two samples in proportion. */
  cpuSecondsAt(atMs) {
    const after = this.#timeline.findIndex((sample) => sample.atMs >= atMs);
    if (after < 0) return this.#timeline.at(-1).cpuSeconds;
    if (after === 0) return this.#timeline[0].cpuSeconds;
    const [left, right] = [this.#timeline[after - 1], this.#timeline[after]];
    const part = (atMs - left.atMs) / Math.max(1, right.atMs - left.atMs);
    return left.cpuSeconds + (right.cpuSeconds - left.cpuSeconds) * part;
  }

  /** The kernel's own high-water mark when the program is one process, else the highest sample. */
  get peakRssBytes() {
    return Math.max(this.#highWater ?? 0, ...this.#timeline.map((sample) => sample.rssBytes));
  }

  #highWater;

  /** What the machine did beside the program: the broker's cores, and everybody else's. */
  surroundings() {
    const after = machineUse(this.#brokerPid);
    const seconds = (after.atMs - this.#othersBefore.atMs) / 1000;
    const used = (key) => after[key] - this.#othersBefore[key];
    const own = this.sample().cpuSeconds;
    return {
      brokerCores: round(used('broker') / seconds, 2),
      foreignCores: round(Math.max(0, (used('busy') - used('broker') - used('driver') - own) / seconds), 2),
      load1: Number(readFileSync('/proc/loadavg', 'utf8').split(' ')[0]),
    };
  }

  /** Asks it to end, and ends it after ten seconds. Resolves with the exit code or signal. */
  async stop() {
    this.sample();
    this.#highWater = this.#seen.size === 1 ? highWaterBytes(this.#child.pid) : undefined;
    clearInterval(this.#timer);
    if (this.running) this.#child.kill('SIGTERM');
    const late = sleep(10_000, { unref: true }).then(() => (this.running ? this.#child.kill('SIGKILL') : false));
    return await Promise.race([this.#exited, late.then(() => this.#exited)]);
  }
}

function readProcesses() {
  const processes = new Map();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const entry = readStat(name);
    if (entry !== undefined) processes.set(Number(name), entry);
  }
  return processes;
}

function readStat(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The command's name, in parentheses, may hold anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return {
      parent: Number(fields[1]),
      cpuSeconds: (Number(fields[11]) + Number(fields[12])) / ticksPerSecond,
      rssBytes: Number(fields[21]) * pageBytes,
    };
  } catch {
    return undefined;
  }
}

function descendants(processes, root) {
  const members = new Set(processes.has(root) ? [root] : []);
  for (let grown = true; grown; ) {
    grown = false;
    for (const [pid, { parent }] of processes) {
      if (members.has(pid) || !members.has(parent)) continue;
      members.add(pid);
      grown = true;
    }
  }
  return members;
}

function highWaterBytes(pid) {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
  } catch {
    return undefined;
  }
}

/** Everything the machine's processors did so far, and of it the broker's and this driver's part, in CPU-seconds. */
export function machineUse(brokerPid) {
  const [user, nice, system, , , irq, softirq] = readFileSync('/proc/stat', 'utf8').split('\n')[0].split(/\s+/).slice(1).map(Number);
  const { user: driverUser, system: driverSystem } = cpuUsage();
  return {
    atMs: Date.now(),
    busy: (user + nice + system + irq + softirq) / ticksPerSecond,
    broker: brokerPid === undefined ? 0 : (readStat(brokerPid)?.cpuSeconds ?? 0),
    driver: (driverUser + driverSystem) / 1e6,
  };
}
