import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Lines kept from one conversation to the next. */
export const maxHistoryLines = 1_000;

/** What was typed before, newest first, in a file only its owner reads. */
export class ShellHistory {
  readonly #path: string | undefined;

  constructor(path: string | undefined) {
    this.#path = path;
  }

  /** Nothing when there is no file yet. */
  load(): string[] {
    if (this.#path === undefined) return [];
    try {
      const lines = readFileSync(this.#path, 'utf8').split('\n');
      return lines.filter((line) => line !== '').slice(0, maxHistoryLines);
    } catch {
      // A history that cannot be read is an empty one: it decides nothing.
      return [];
    }
  }

  /** Gives the reason when it could not be kept. */
  save(lines: readonly string[]): string | undefined {
    if (this.#path === undefined) return undefined;
    try {
      mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
      writeFileSync(
        this.#path,
        lines
          .slice(0, maxHistoryLines)
          .map((line) => `${line}\n`)
          .join(''),
        { mode: 0o600 },
      );
      chmodSync(this.#path, 0o600);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
}

/** `TIDEWATER_HISTORY` (empty: none is kept), else `tidewater/sql_history` below `XDG_STATE_HOME` or `~/.local/state`. */
export function historyPath(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const chosen = env['TIDEWATER_HISTORY'];
  if (chosen !== undefined) return chosen === '' ? undefined : chosen;
  const home = env['HOME'] ?? '';
  const state = env['XDG_STATE_HOME'] ?? '';
  if (state !== '') return join(state, 'tidewater', 'sql_history');
  return home === '' ? undefined : join(home, '.local', 'state', 'tidewater', 'sql_history');
}
