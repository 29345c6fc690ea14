import { writeSync } from 'node:fs';
import { serviceError } from '../base/errors.ts';
import { type Failpoint, failpointNames, inertFailpoint } from '../base/failpoint.ts';

const names: ReadonlySet<string> = new Set(failpointNames);
const delayMs = 2_000;

/**
 * Arms failpoints from `FAILPOINT=<name>:<kill|pause|error|delay>[:<nth>]`, several separated by commas; inert without the variable.
 * `kill` is SIGKILL to this process, `pause` is SIGSTOP, `error` throws `FAILPOINT` (unavailable), `delay` waits two seconds.
 * `nth` (default 1) is which passing of the point acts.
 *
 * @throws ServiceError `CONFIG_INVALID` (invalid) when the variable is not of that form.
 */
export function failpointFromEnv(setting: string | undefined): Failpoint {
  if (setting === undefined || setting === '') return inertFailpoint;
  const armed = setting.split(',').map(parseArmed);
  return async (passed) => {
    for (const point of armed) {
      if (passed !== point.name) continue;
      point.passesLeft -= 1;
      if (point.passesLeft === 0) await act(point.name, point.action);
    }
  };
}

interface Armed {
  readonly name: string;
  readonly action: string;
  passesLeft: number;
}

function parseArmed(text: string): Armed {
  const [name, action, nthText] = text.split(':');
  if (name === undefined || !names.has(name) || action === undefined) {
    throw serviceError.invalid('CONFIG_INVALID', `FAILPOINT="${text}" is not <name>:<kill|pause|error|delay>[:<nth>]`, {
      hint: `names: ${[...names].join(' ')}`,
    });
  }
  return { name, action, passesLeft: Number(nthText ?? '1') };
}

async function act(name: string, action: string): Promise<void> {
  // Not `process.stderr`: a worker thread's goes through the main thread, which a kill would end first.
  writeSync(2, `failpoint ${name}: ${action}\n`);
  switch (action) {
    case 'kill':
      process.kill(process.pid, 'SIGKILL');
      break;
    case 'pause':
      process.kill(process.pid, 'SIGSTOP');
      break;
    case 'delay':
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      break;
    default:
      throw serviceError.unavailable('FAILPOINT', `failpoint ${name} was armed to fail`);
  }
}
