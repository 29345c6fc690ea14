import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { KafkaAdmin } from '../kafka/client.ts';
import type { HealthRegistry, HealthReporter } from '../observability/health.ts';
import { Standstill } from '../observability/standstill.ts';

export interface BrokerWatchParts {
  readonly admin: Pick<KafkaAdmin, 'clusterId'>;
  readonly clock: Clock;
  readonly health: HealthRegistry;
  /** The process is not ready when the broker is silent for so long. */
  readonly notReadyAfterMs: number;
}

const lookIntervalMs = 5_000;
/** An answer that takes longer is none. */
const answerTimeoutMs = 5_000;
const retryMs = 250;

/** Asks the broker now and then whether it is there: what waits for it quietly would never say that it is not. */
export class BrokerWatch {
  readonly #parts: BrokerWatchParts;
  readonly #reporter: HealthReporter;
  readonly #standstill: Standstill;

  constructor(parts: BrokerWatchParts) {
    this.#parts = parts;
    const standstill = new Standstill({ clock: parts.clock, boundMs: parts.notReadyAfterMs });
    this.#standstill = standstill;
    this.#reporter = parts.health.component('kafka', { impairment: () => standstill.detail });
  }

  /** Runs until `signal` fires. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const refusal = await this.#ask(answerTimeoutMs, signal);
      if (refusal === undefined) {
        this.#standstill.succeeded();
        this.#reporter.report('running');
      } else {
        this.#standstill.failed(refusal);
      }
      await this.#pause(refusal === undefined ? lookIntervalMs : retryMs, signal);
    }
    this.#reporter.report('stopped');
  }

  /** Resolves when the broker has not answered for as long as an answer may take; never while it does, until `signal` fires. */
  async untilSilent(signal: AbortSignal): Promise<void> {
    const { clock } = this.#parts;
    let deadlineMs = clock.monotonicMs() + answerTimeoutMs;
    while (!signal.aborted && clock.monotonicMs() < deadlineMs) {
      const refusal = await this.#ask(deadlineMs - clock.monotonicMs(), signal);
      if (refusal === undefined) deadlineMs = clock.monotonicMs() + answerTimeoutMs;
      await this.#pause(retryMs, signal);
    }
  }

  /** `undefined`: it answered. Never rejects. */
  async #ask(withinMs: number, signal: AbortSignal): Promise<string | undefined> {
    const { admin, clock } = this.#parts;
    const done = new AbortController();
    const late = clock.sleep(withinMs, AbortSignal.any([signal, done.signal])).then(
      () => 'the broker does not answer',
      () => 'the broker was not heard in time',
    );
    const answer = admin.clusterId().then(
      () => undefined,
      (error: unknown) => describeError(error),
    );
    try {
      return await Promise.race([answer, late]);
    } finally {
      done.abort();
    }
  }

  #pause(ms: number, signal: AbortSignal): Promise<void> {
    return this.#parts.clock.sleep(ms, signal).catch(() => undefined);
  }
}
