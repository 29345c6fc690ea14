import { expect, it } from 'vitest';
import { type Clock, toEpochMs } from '../../../src/base/clock.ts';
import { HealthRegistry, type HealthReport } from '../../../src/observability/health.ts';

function fixture(): { readonly health: HealthRegistry; readonly at: (ms: number) => void } {
  let nowMs = 0;
  const clock: Clock = { now: () => toEpochMs(nowMs), monotonicMs: () => nowMs, sleep: () => Promise.resolve() };
  return {
    health: new HealthRegistry(clock),
    at: (ms) => {
      nowMs = ms;
    },
  };
}

/** What the probes are told. */
function told(health: HealthRegistry): Omit<HealthReport, 'components'> {
  const { ready, started, draining } = health.report();
  return { ready, started, draining };
}

it('a process is neither started nor ready before everything it is to do has been set to work', () => {
  const { health } = fixture();
  expect(told(health)).toEqual({ ready: false, started: false, draining: false });
  health.component('ingest').report('running');
  expect(told(health)).toEqual({ ready: false, started: false, draining: false });
  health.begin();
  expect(told(health)).toEqual({ ready: true, started: true, draining: false });
});

it('a process that has nothing to do is ready', () => {
  const { health } = fixture();
  health.begin();
  expect(told(health)).toEqual({ ready: true, started: true, draining: false });
});

it('ready when every required component runs, degraded or not; started whatever they wait for', () => {
  const { health } = fixture();
  const ingest = health.component('ingest');
  const feed = health.component('feed');
  health.begin();
  ingest.report('running');
  expect(told(health)).toEqual({ ready: false, started: true, draining: false });
  feed.report('degraded', 'behind');
  expect(told(health)).toEqual({ ready: true, started: true, draining: false });
  ingest.report('failed', 'offset discontinuity');
  expect(told(health)).toEqual({ ready: false, started: true, draining: false });
});

it('maintenance without Redis does not make the process unready, unless it is all there is to do', () => {
  const { health } = fixture();
  health.begin();
  health.component('ingest').report('running');
  health.component('maintenance', { requiredForReadiness: false }).report('starting', 'redis does not answer');
  expect(told(health)).toEqual({ ready: true, started: true, draining: false });
  health.component('maintenance', { requiredForReadiness: true }).report('starting', 'redis does not answer');
  expect(told(health)).toEqual({ ready: false, started: true, draining: false });
});

it('a draining process is not ready', () => {
  const { health } = fixture();
  health.component('ingest').report('running');
  health.begin();
  health.beginDrain();
  expect(told(health)).toEqual({ ready: false, started: true, draining: true });
});

it('a component that cannot do its work is not up, whatever it says, until what keeps it is gone', () => {
  const { health } = fixture();
  let impairment: string | undefined = 'failing for 40 s: STORAGE_FULL';
  const ingest = health.component('ingest', { impairment: () => impairment });
  health.begin();
  ingest.report('running');
  const same = { name: 'ingest', since: 0, requiredForReadiness: true };
  expect(health.report()).toEqual({
    ready: false,
    started: true,
    draining: false,
    components: [{ ...same, state: 'failed', detail: 'failing for 40 s: STORAGE_FULL' }],
  });
  impairment = undefined;
  expect(health.report()).toEqual({
    ready: true,
    started: true,
    draining: false,
    components: [{ ...same, state: 'running', detail: undefined }],
  });
});

it('since tells when the state began, not when it was last repeated', () => {
  const { health, at } = fixture();
  const ingest = health.component('ingest');
  at(10);
  ingest.report('running', 'a');
  at(20);
  ingest.report('running', 'b');
  expect(health.report().components).toEqual([{ name: 'ingest', state: 'running', detail: 'b', since: 10, requiredForReadiness: true }]);
  ingest.remove();
  expect(health.report().components).toEqual([]);
});
