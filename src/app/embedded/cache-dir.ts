import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** `TIDEWATER_CACHE`, else `tidewater` below `XDG_CACHE_HOME` or `~/.cache`. Shared by all checkouts of a user. */
export function defaultCacheDir(env: NodeJS.ProcessEnv = process.env): string {
  const chosen = env['TIDEWATER_CACHE'];
  if (chosen !== undefined && chosen !== '') return chosen;
  const xdg = env['XDG_CACHE_HOME'];
  return join(xdg === undefined || xdg === '' ? join(homedir(), '.cache') : xdg, 'tidewater');
}

/**
 * Fills a directory of the cache as a whole: `fill` works in a directory beside it, which gets its name at the end. An interrupted
 * download leaves nothing that looks complete, and of two at once the first wins.
 */
export async function fillCacheEntry(cacheDir: string, name: string, fill: (partial: string) => Promise<void>): Promise<string> {
  const target = join(cacheDir, name);
  const partial = `${target}.partial-${process.pid}`;
  mkdirSync(partial, { recursive: true });
  try {
    await fill(partial);
    try {
      renameSync(partial, target);
    } catch (error) {
      const lost = error instanceof Error && 'code' in error && (error.code === 'ENOTEMPTY' || error.code === 'EEXIST');
      if (!lost) throw error;
    }
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  return target;
}
