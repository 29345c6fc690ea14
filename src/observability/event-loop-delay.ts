import { monitorEventLoopDelay } from 'node:perf_hooks';

/** How late the event loop was, in seconds. */
export interface EventLoopDelay {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

const resolutionMs = 10;
const nanosPerSecond = 1e9;

/** Samples the event loop of this thread from `start` to `stop`. */
export class EventLoopMonitor {
  readonly #histogram = monitorEventLoopDelay({ resolution: resolutionMs });

  start(): void {
    this.#histogram.enable();
  }

  stop(): void {
    this.#histogram.disable();
  }

  /** Since `start`, or since the last `reset`. The sampling interval itself is taken off. */
  read(): EventLoopDelay {
    const at = (quantile: number): number => beyondResolution(this.#histogram.percentile(quantile));
    // An empty histogram has no quantiles.
    if (this.#histogram.count === 0) return { p50: 0, p90: 0, p99: 0, max: 0 };
    return { p50: at(50), p90: at(90), p99: at(99), max: beyondResolution(this.#histogram.max) };
  }

  reset(): void {
    this.#histogram.reset();
  }
}

function beyondResolution(nanos: number): number {
  return Math.max(0, nanos / nanosPerSecond - resolutionMs / 1_000);
}
