import { spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { ownerTokenPath } from './server-record.ts';

/**
 * A server must not outlive an owner that was killed without a chance to stop it. The guard is a tiny shell that holds the reading end of a
 * pipe: the end of the owner, however it comes, is the end of the pipe. After the grace it ends the server, unless somebody else
 * took it over (another token) or the process id belongs to another program by then.
 */
const script = `
cat >/dev/null
sleep "$GRACE"
[ "$(cat "$OWNER" 2>/dev/null)" = "$TOKEN" ] || exit 0
if [ -r "/proc/$SERVER/cmdline" ]; then line=$(tr '\\0' ' ' <"/proc/$SERVER/cmdline"); else line=$(ps -ww -o command= -p "$SERVER" 2>/dev/null); fi
case "$line" in *"$MARK"*) kill -TERM "$SERVER" ;; esac
`;

export function guardAgainstOrphan(options: {
  readonly dir: string;
  readonly token: string;
  readonly pid: number;
  /** Text that only this server's command line holds. */
  readonly mark: string;
  readonly graceMs: number;
}): void {
  const guard = spawn('/bin/sh', ['-c', script], {
    detached: true,
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
    env: {
      PATH: process.env['PATH'],
      GRACE: String(Math.ceil(options.graceMs / 1000)),
      OWNER: ownerTokenPath(options.dir),
      TOKEN: options.token,
      SERVER: String(options.pid),
      MARK: options.mark,
    },
  });
  // Neither the guard nor its pipe keeps the owner alive. A guard that cannot start is a comfort lost, not a failure.
  guard.on('error', ignore);
  guard.stdin.on('error', ignore);
  guard.unref();
  if (guard.stdin instanceof Socket) guard.stdin.unref();
}

function ignore(): void {}
