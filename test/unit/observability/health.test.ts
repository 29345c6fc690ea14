import { expect, test } from 'vitest';
import { type Clock, toEpochMs } from '../../../src/base/clock.ts';
import { HealthRegistry } from '../../../src/observability/health.ts';

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

test('a process is neither started nor ready before everything it is to do has been set to work', () => {
  const { health } = fixture();
  expect(health.report()).toMatchObject({ ready: false, started: false });
  health.component('ingest').report('running');
  expect(health.report()).toMatchObject({ ready: false, started: false });
  health.begin();
  expect(health.report()).toMatchObject({ ready: true, started: true });
});

test('a process that has nothing to do is ready', () => {
  const { health } = fixture();
  health.begin();
  expect(health.report()).toMatchObject({ ready: true, started: true });
});

test('ready when every required component runs, degraded or not; started whatever they wait for', () => {
  const { health } = fixture();
  const ingest = health.component('ingest');
  const feed = health.component('feed');
  health.begin();
  ingest.report('running');
  expect(health.report()).toMatchObject({ ready: false, started: true });
  feed.report('degraded', 'behind');
  expect(health.report()).toMatchObject({ ready: true, started: true });
  ingest.report('failed', 'offset discontinuity');
  expect(health.report()).toMatchObject({ ready: false, started: true });
});

test('maintenance without Redis does not make the process unready, unless it is all there is to do', () => {
  const { health } = fixture();
  health.begin();
  health.component('ingest').report('running');
  health.component('maintenance', { requiredForReadiness: false }).report('starting', 'redis does not answer');
  expect(health.report()).toMatchObject({ ready: true, started: true });
  health.component('maintenance', { requiredForReadiness: true }).report('starting', 'redis does not answer');
  expect(health.report()).toMatchObject({ ready: false, started: true });
});

test('a draining process is not ready', () => {
  const { health } = fixture();
  health.component('ingest').report('running');
  health.begin();
  health.beginDrain();
  expect(health.report()).toMatchObject({ ready: false, draining: true, started: true });
});

test('a component that cannot do its work is not up, whatever it says, until what keeps it is gone', () => {
  const { health } = fixture();
  let impairment: string | undefined = 'failing for 40 s: STORAGE_FULL';
  const ingest = health.component('ingest', { impairment: () => impairment });
  health.begin();
  ingest.report('running');
  expect(health.report()).toMatchObject({ ready: false, components: [{ state: 'failed', detail: 'failing for 40 s: STORAGE_FULL' }] });
  impairment = undefined;
  expect(health.report()).toMatchObject({ ready: true, components: [{ state: 'running', detail: undefined }] });
});

test('since tells when the state began, not when it was last repeated', () => {
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
