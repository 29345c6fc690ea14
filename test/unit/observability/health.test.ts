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

test('a process without components is not ready', () => {
  expect(fixture().health.report()).toMatchObject({ ready: false, started: false });
});

test('ready when every required component runs, degraded or not', () => {
  const { health } = fixture();
  const ingest = health.component('ingest');
  const feed = health.component('feed');
  ingest.report('running');
  expect(health.report()).toMatchObject({ ready: false, started: false });
  feed.report('degraded', 'behind');
  expect(health.report()).toMatchObject({ ready: true, started: true });
  ingest.report('failed', 'offset discontinuity');
  expect(health.report()).toMatchObject({ ready: false, started: true });
});

test('maintenance without Redis does not make the process unready', () => {
  const { health } = fixture();
  health.component('ingest').report('running');
  health.component('maintenance', { requiredForReadiness: false }).report('degraded', 'redis does not answer');
  expect(health.report()).toMatchObject({ ready: true, started: true });
});

test('started stays true when a component starts again', () => {
  const { health } = fixture();
  const ingest = health.component('ingest');
  ingest.report('running');
  expect(health.report().started).toBe(true);
  ingest.report('starting');
  expect(health.report()).toMatchObject({ started: true, ready: false });
});

test('a draining process is not ready', () => {
  const { health } = fixture();
  health.component('ingest').report('running');
  health.beginDrain();
  expect(health.report()).toMatchObject({ ready: false, draining: true, started: true });
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
