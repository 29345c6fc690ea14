import { ServiceError } from '../base/errors.ts';
import { type Failpoint, type FailpointName, inertFailpoint } from '../base/failpoint.ts';

const names: ReadonlySet<string> = new Set<FailpointName>([
  'F1',
  'F2',
  'F3',
  'F4',
  'F5',
  'F6',
  'F7',
  'C1',
  'C2',
  'C3',
  'C4',
  'C5',
  'M1',
  'M2',
  'M3',
  'V1',
  'V2',
]);
const delayMs = 2_000;

/**
 * Arms at most one failpoint from `FAILPOINT=<name>:<kill|pause|error|delay>[:<nth>]`; inert without the variable.
 * `kill` is SIGKILL to this process, `pause` is SIGSTOP, `error` throws `FAILPOINT` (unavailable), `delay` waits two seconds.
 * `nth` (default 1) is which passing of the point acts.
 */
export function failpointFromEnv(setting: string | undefined): Failpoint {
  if (setting === undefined || setting === '') return inertFailpoint;
  const [name, action, nthText] = setting.split(':');
  if (name === undefined || !names.has(name) || action === undefined) {
    throw new ServiceError({
      code: 'CONFIG_INVALID',
      kind: 'invalid',
      message: `FAILPOINT="${setting}" is not <name>:<kill|pause|error|delay>[:<nth>]`,
      hint: `names: ${[...names].join(' ')}`,
    });
  }
  let passesLeft = Number(nthText ?? '1');
  return async (passed) => {
    if (passed !== name) return;
    passesLeft -= 1;
    if (passesLeft === 0) await act(name, action);
  };
}

async function act(name: string, action: string): Promise<void> {
  process.stderr.write(`failpoint ${name}: ${action}\n`);
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
      throw new ServiceError({ code: 'FAILPOINT', kind: 'unavailable', message: `failpoint ${name} was armed to fail` });
  }
}
