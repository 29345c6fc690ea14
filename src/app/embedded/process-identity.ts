import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * True when `pid` runs and its command line holds `mark`. Process ids come round again; a command line with the absolute path of
 * our own settings file does not belong to anybody else.
 */
export function runsWith(pid: number, mark: string): boolean {
  return commandLine(pid)?.includes(mark) ?? false;
}

/** A text that tells this incarnation of a process id from a later one; `undefined` when no such process runs. */
export function processBirth(pid: number): string | undefined {
  if (process.platform !== 'linux') return ps(pid, 'lstart=');
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold spaces: count fields from behind it. Field 3 is the state, field 22 the start in clock ticks.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

function commandLine(pid: number): string | undefined {
  if (process.platform !== 'linux') return ps(pid, 'command=');
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return undefined;
  }
}

function ps(pid: number, column: string): string | undefined {
  try {
    return execFileSync('ps', ['-ww', '-o', column, '-p', String(pid)], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined;
  }
}
