import { z } from 'zod';
import { booleanField, durationField, integerField, textField, textListField } from '../base/setting-fields.ts';

/** The HTTP server for probes, metrics and status. */
export interface ServerSettings {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly allowRemote: boolean;
  /** Names that requests may be for, beside addresses, localhost and `host`. */
  readonly allowedHosts: readonly string[];
  /** `/livez` fails when the event loop was blocked longer than this within the last seconds. */
  readonly maxEventLoopDelayMs: number;
  /** `/status` and `/metrics` answer within this or fail with 503. */
  readonly requestTimeoutMs: number;
  /** `/readyz` fails when commits, publications or the broker have been failing for so long. */
  readonly notReadyAfterMs: number;
  /** Longest end of the process after SIGTERM. */
  readonly drainTimeoutMs: number;
}

export const serverSettings: z.ZodType<ServerSettings> = z
  .strictObject({
    host: textField({
      description: 'Address to listen on. Anything but a loopback address needs `allowRemote: true`.',
      default: '127.0.0.1',
      maxLength: 255,
    }),
    port: integerField({ description: 'Port; 0 takes any free one.', default: 9464, min: 0, max: 65_535 }),
    allowRemote: booleanField({
      description: 'Allow other hosts to connect. The server has no log-in: put it behind a network policy or a proxy.',
      default: false,
    }),
    allowedHosts: textListField({
      description:
        'Names by which this server may be asked, beside IP addresses, localhost and `host`; a request for another one is refused (421). Empty: checked only where `host` is a loopback address, so that probes and scrapers may use any name elsewhere.',
      default: [],
      maxItems: 64,
      pattern: /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/,
      patternHint: 'is no name of a host (without port and scheme)',
    }),
    maxEventLoopDelay: durationField({
      description: 'The process counts as hung when its event loop stands still so long.',
      default: '10s',
      min: '100ms',
      max: '10m',
    }),
    requestTimeout: durationField({
      description: 'Longest time to collect the answer to one request.',
      default: '5s',
      min: '100ms',
      max: '2m',
    }),
    notReadyAfter: durationField({
      description:
        'The process is not ready when the commits of a table, the publications of a feed, or all requests to the broker have been failing for so long. It is again after the first that succeeds.',
      default: '30s',
      min: '1s',
      max: '1h',
    }),
    drainTimeout: durationField({
      description:
        'Longest time after SIGTERM to commit what was read and to publish what was committed. What is left then is not lost: the next start reads it again. Shorter when the broker does not answer and nothing can be saved.',
      default: '60s',
      min: '1s',
      max: '1h',
    }),
  })
  .transform(({ maxEventLoopDelay, requestTimeout, notReadyAfter, drainTimeout, ...same }) => ({
    ...same,
    maxEventLoopDelayMs: maxEventLoopDelay,
    requestTimeoutMs: requestTimeout,
    notReadyAfterMs: notReadyAfter,
    drainTimeoutMs: drainTimeout,
  }));
