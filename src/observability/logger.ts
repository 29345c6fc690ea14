import { pino } from 'pino';
import type { JsonObject, JsonValue } from '../base/bigint-json.ts';
import type { Clock } from '../base/clock.ts';
import { ServiceError } from '../base/errors.ts';
import { isSecretName, mask, withoutSecrets } from '../base/redaction.ts';
import { Secret } from '../base/secret.ts';
import { formatPrettyLine } from './pretty-line.ts';
import type { LogLevel } from './settings.ts';

/**
 * Structured log: a constant message in lower case, the values as fields. error = wake someone; warn = look tomorrow;
 * info = state changed; debug = off. Never record payloads.
 */
export interface Logger {
  debug(message: string, fields?: LogInput): void;
  info(message: string, fields?: LogInput): void;
  warn(message: string, fields?: LogInput): void;
  error(message: string, fields?: LogInput): void;
  /** A logger whose lines all carry these fields. */
  child(fields: LogInput): Logger;
}

/**
 * Fields of a line. Whatever was caught goes under `err`: its code, kind, message, hint, context and causes are written. 64-bit numbers are
 * written as text, secrets masked, long texts and lists shortened.
 */
export type LogInput = Readonly<Record<string, unknown>>;

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly format: 'json' | 'pretty';
  readonly clock: Clock;
  /** Takes one line with its line feed. */
  readonly write: (line: string) => void;
  /** Only in `pretty`. */
  readonly colour?: boolean | undefined;
  /** Fields of every line, such as the pipeline and role. */
  readonly fields?: LogInput | undefined;
}

const maxDepth = 6;
const maxTextLength = 4_096;
const maxListItems = 100;
const maxCauses = 5;

export function createLogger(options: LoggerOptions): Logger {
  const { write, clock } = options;
  const pretty = options.format === 'pretty';
  const destination = {
    write: (line: string): void => {
      write(pretty ? formatPrettyLine(line, { colour: options.colour === true }) : line);
    },
  };
  const root = pino(
    {
      level: options.level,
      base: null,
      messageKey: 'msg',
      timestamp: () => `,"time":"${new Date(clock.now()).toISOString()}"`,
      formatters: { level: (level) => ({ level }) },
      // Errors arrive as plain values; pino's own serializer would flatten their causes.
      serializers: { err: (value: unknown) => value },
    },
    destination,
  );
  return new PinoLogger(root.child(loggable(options.fields ?? {})));
}

/** Discards everything. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
};

type PinoSink = Pick<pino.Logger, 'debug' | 'info' | 'warn' | 'error' | 'isLevelEnabled'> & { child(fields: object): PinoSink };

class PinoLogger implements Logger {
  readonly #sink: PinoSink;

  constructor(sink: PinoSink) {
    this.#sink = sink;
  }

  debug(message: string, fields: LogInput = {}): void {
    if (this.#sink.isLevelEnabled('debug')) this.#sink.debug(loggable(fields), message);
  }

  info(message: string, fields: LogInput = {}): void {
    if (this.#sink.isLevelEnabled('info')) this.#sink.info(loggable(fields), message);
  }

  warn(message: string, fields: LogInput = {}): void {
    if (this.#sink.isLevelEnabled('warn')) this.#sink.warn(loggable(fields), message);
  }

  error(message: string, fields: LogInput = {}): void {
    if (this.#sink.isLevelEnabled('error')) this.#sink.error(loggable(fields), message);
  }

  child(fields: LogInput): Logger {
    return new PinoLogger(this.#sink.child(loggable(fields)));
  }
}

function loggable(fields: LogInput): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, isSecretName(name) && value !== undefined ? mask : plain(value, 0)]),
  );
}

/** Something JSON can hold: bounded in depth and size, 64-bit numbers as text, secrets masked. */
function plain(value: unknown, depth: number): JsonValue | undefined {
  switch (typeof value) {
    case 'undefined':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : String(value);
    case 'bigint':
      return value.toString();
    case 'string':
      return plainText(value);
    case 'object':
      return plainObject(value, depth);
    case 'symbol':
    case 'function':
      return String(value);
  }
}

/** Cut first, so that a long text costs no more than a short one. */
function plainText(text: string): string {
  const shown = withoutSecrets(text.slice(0, maxTextLength));
  return text.length <= maxTextLength ? shown : `${shown}… (${text.length} characters)`;
}

function plainObject(value: object | null, depth: number): JsonValue {
  if (value === null) return null;
  if (value instanceof Secret) return value.toString();
  if (value instanceof Error) return plainError(value, maxCauses);
  if (value instanceof Date) return value.toISOString();
  if (ArrayBuffer.isView(value)) return `(${value.byteLength} bytes)`;
  if (depth >= maxDepth) return '…';
  if (value instanceof Map) return plainObject(Object.fromEntries(value) as object, depth);
  if (value instanceof Set || Array.isArray(value)) {
    const items = [...(value as Iterable<unknown>)];
    const shown = items.slice(0, maxListItems).map((item) => plain(item, depth + 1) ?? null);
    return items.length > maxListItems ? [...shown, `… (${items.length} items)`] : shown;
  }
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, isSecretName(name) ? mask : plain(member, depth + 1)]));
}

function plainError(error: Error, causesLeft: number): JsonObject {
  const cause = error.cause instanceof Error && causesLeft > 0 ? plainError(error.cause, causesLeft - 1) : plain(error.cause, maxDepth);
  const shared = { message: plain(error.message, 0), cause };
  if (!(error instanceof ServiceError)) return { name: error.name, ...shared, stack: plain(error.stack, 0) };
  const { code, kind, hint } = error;
  const context = Object.keys(error.context).length === 0 ? undefined : plain(error.context, 0);
  return { code, kind, ...shared, hint, context, stack: kind === 'internal' ? plain(error.stack, 0) : undefined };
}
