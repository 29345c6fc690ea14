import { type BackoffPolicy, backoffMs } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import { describeError, describeFailure, isServiceError } from '../base/errors.ts';
import type { Random } from '../base/random.ts';
import type { HealthReporter } from '../observability/health.ts';
import type { Logger } from '../observability/logger.ts';

export interface SupervisionOptions {
  /** Runs until the signal fires; a rejection is a reason to start again or to give up. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly random: Random;
  readonly backoff: BackoffPolicy;
  readonly onRestart: (error: unknown, waitMs: number) => void;
  /** The part stands still until an operator acts; the process and its other parts go on. */
  readonly onGivenUp: (error: unknown) => void;
}

export interface SupervisedPart {
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
  readonly reporter: HealthReporter;
  /** With every line of the log. */
  readonly labels: Readonly<Record<string, string>>;
  /** What the log says. */
  readonly says: { readonly restarts: string; readonly standsStill: string };
  /** Tells of a failure that a new start may cure. Default: it starts, with the error. */
  readonly reportRestart?: (error: unknown) => void;
}

/** How every part of the process is started again. */
const restartBackoff: BackoffPolicy = { initialMs: 500, maxMs: 30_000 };

/** How a part is started again that was refused: loudly, and at a pace that locks no account. */
const refusedBackoff: BackoffPolicy = { initialMs: 5_000, maxMs: 60_000 };

/** A run of this length counts as health: the next failure waits briefly again. */
const healthyRunMs = 60_000;

/** As `supervise`, told on the status page and in the log. */
export function supervisePart(
  { clock, random, logger }: Pick<SupervisionOptions, 'clock' | 'random'> & { readonly logger: Logger },
  { run, signal, reporter, labels, says, reportRestart }: SupervisedPart,
): Promise<void> {
  return supervise({
    run,
    signal,
    clock,
    random,
    backoff: restartBackoff,
    onRestart: (error, waitMs) => {
      if (reportRestart === undefined) reporter.report('starting', describeError(error));
      else reportRestart(error);
      logger.warn(says.restarts, { ...labels, waitMs, err: error });
    },
    onGivenUp: (error) => {
      reporter.report('failed', describeFailure(error));
      logger.error(says.standsStill, { ...labels, err: error });
    },
  });
}

/**
 * Keeps one part of the process running: starts it again after failures that time may cure, and gives it up after those that only an
 * operator can. Resolves when the signal fired and the part has drained, or when it is given up.
 */
export async function supervise(options: SupervisionOptions): Promise<void> {
  const { signal, clock, random, backoff } = options;
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    const startedMs = clock.monotonicMs();
    try {
      await options.run(signal);
      return;
    } catch (error) {
      if (isServiceError(error, 'aborted')) return;
      if (!curable(error)) {
        options.onGivenUp(error);
        return;
      }
      if (clock.monotonicMs() - startedMs > healthyRunMs) attempt = 0;
      const waitMs = backoffMs(isRefusal(error) ? refusedBackoff : backoff, attempt, random);
      options.onRestart(error, waitMs);
      await clock.sleep(waitMs, signal).catch(() => undefined);
    }
  }
}

/**
 * Whether the same part, started anew from what the table and the topics say, may get on. What nobody foresaw, such as an error of a driver that
 * reached this place as it was, is as likely to pass as not; a new start does no harm.
 */
function curable(error: unknown): boolean {
  return (
    !isServiceError(error) ||
    isRefusal(error) ||
    isServiceError(error, 'unavailable', 'unknown-outcome', 'conflict', 'internal', 'not-found')
  );
}

const refusals: ReadonlySet<string> = new Set(['KAFKA_AUTHENTICATION_FAILED', 'KAFKA_TLS_FAILED', 'KAFKA_NOT_AUTHORIZED']);

/** The broker does not let this process in. An operator cures it there, or by a file of credentials that is read anew, while the process runs. */
export function isRefusal(error: unknown): boolean {
  return isServiceError(error) && refusals.has(error.code);
}
