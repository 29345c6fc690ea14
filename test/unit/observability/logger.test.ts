import { describe, expect, it } from 'vitest';
import { parseJson } from '../../../src/base/bigint-json.ts';
import { type Clock, toEpochMs } from '../../../src/base/clock.ts';
import { ServiceError } from '../../../src/base/errors.ts';
import { Secret } from '../../../src/base/secret.ts';
import { createLogger, type Logger, silentLogger } from '../../../src/observability/logger.ts';
import type { LogLevel } from '../../../src/observability/settings.ts';

const clock: Clock = { now: () => toEpochMs(Date.UTC(2026, 0, 2, 3, 4, 5, 678)), monotonicMs: () => 0, sleep: () => Promise.resolve() };

function capture(options: { readonly level?: LogLevel; readonly format?: 'json' | 'pretty'; readonly colour?: boolean } = {}): {
  readonly logger: Logger;
  readonly lines: readonly string[];
} {
  const lines: string[] = [];
  const logger = createLogger({
    level: options.level ?? 'info',
    format: options.format ?? 'json',
    colour: options.colour,
    clock,
    write: (line) => lines.push(line),
    fields: { pipeline: 'demo' },
  });
  return { logger, lines };
}

/** What every line of these loggers has. */
const line = { level: 'info', time: '2026-01-02T03:04:05.678Z', pipeline: 'demo', msg: 'm' };
const parsed = (line: string | undefined): unknown => parseJson(line ?? '', 'line');

describe('JSON lines', () => {
  it('carry level, time, message and the fields of all loggers above', () => {
    const { logger, lines } = capture();
    logger.child({ table: 'flights' }).info('table committed', { version: 7 });
    expect(lines).toHaveLength(1);
    expect(lines[0]?.endsWith('\n')).toBe(true);
    expect(parsed(lines[0])).toEqual({
      level: 'info',
      time: '2026-01-02T03:04:05.678Z',
      pipeline: 'demo',
      table: 'flights',
      version: 7,
      msg: 'table committed',
    });
  });

  it('nothing below the level is written', () => {
    const { logger, lines } = capture({ level: 'warn' });
    logger.debug('d');
    logger.info('i');
    logger.warn('w');
    logger.error('e');
    expect(lines.map((line) => (parsed(line) as { msg: string }).msg)).toEqual(['w', 'e']);
    const silent = capture({ level: 'silent' });
    silent.logger.error('e');
    expect(silent.lines).toEqual([]);
  });

  it('64-bit numbers keep all digits, odd numbers are named, bytes are counted', () => {
    const { logger, lines } = capture();
    logger.info('m', { offset: 9007199254740993n, rate: Number.NaN, bytes: new Uint8Array(3), at: new Date(0) });
    expect(parsed(lines[0])).toEqual({
      ...line,
      offset: '9007199254740993',
      rate: 'NaN',
      bytes: '(3 bytes)',
      at: '1970-01-01T00:00:00.000Z',
    });
  });

  it('secrets are masked by type and by name, at any depth', () => {
    const { logger, lines } = capture();
    logger.info('m', {
      url: new Secret('hunter2'),
      password: 'hunter2',
      deep: [{ saslPassword: 'hunter2', ok: 1 }],
      err: new Error('x', { cause: { token: 'hunter2' } }),
    });
    expect(lines[0]).not.toContain('hunter2');
    expect(parsed(lines[0])).toMatchObject({ url: '***', password: '***', deep: [{ saslPassword: '***', ok: 1 }] });
  });

  it('parts of addresses that are secret are masked in fields, errors and their causes', () => {
    const { logger, lines } = capture();
    const uri = 'https://u:hunter2@host/x?token=hunter2';
    logger.info('m', { uri, deep: [{ uri }], 's3.secret-access-key': 'hunter2', err: new Error(uri, { cause: new Error(uri) }) });
    expect(lines[0]).not.toContain('hunter2');
    expect(parsed(lines[0])).toMatchObject({ uri: 'https://***@host/x?token=***' });
  });

  it('an error shows code, kind, hint, context and causes', () => {
    const { logger, lines } = capture();
    const cause = new Error('socket closed');
    logger.error('commit failed', {
      err: new ServiceError({
        code: 'STORAGE_UNAVAILABLE',
        kind: 'unavailable',
        message: 'no answer',
        hint: 'wait',
        context: { attempts: 3n },
        cause,
      }),
    });
    expect(parsed(lines[0])).toMatchObject({
      err: {
        code: 'STORAGE_UNAVAILABLE',
        kind: 'unavailable',
        message: 'no answer',
        hint: 'wait',
        context: { attempts: '3' },
        cause: { name: 'Error', message: 'socket closed' },
      },
    });
  });

  it('long texts, long lists, deep and circular values stay bounded', () => {
    const { logger, lines } = capture();
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    logger.info('m', { text: 'x'.repeat(100_000), list: Array.from({ length: 10_000 }, (_, index) => index), circular });
    expect(lines[0]?.length).toBeLessThan(10_000);
    expect(lines[0]).toContain('(10000 items)');
  });
});

describe('pretty lines', () => {
  it('are one line for people', () => {
    const { logger, lines } = capture({ format: 'pretty' });
    logger.warn('table committed', { table: 'flights', note: 'two words' });
    expect(lines).toEqual(['03:04:05.678 warn  table committed  pipeline=demo table=flights note="two words"\n']);
  });

  it('control characters and overrides of direction are shown, not sent', () => {
    const { logger, lines } = capture({ format: 'pretty' });
    const hostile = '\u001b[2J\u009b\u202e';
    const err = new ServiceError({ code: 'A', kind: 'internal', message: hostile, hint: hostile, cause: new Error(hostile) });
    logger.warn('m', { table: hostile, list: [hostile], [hostile]: `a ${hostile}`, err });
    expect(lines.join('')).not.toMatch(/[^\P{Cc}\n]|\u202e/u);
    expect(lines[0]).toContain('table=\\u001b[2J\\u009b\\u202e');
  });

  it('show errors with code and hint, and colours only when told', () => {
    const { logger, lines } = capture({ format: 'pretty' });
    logger.error('stopped', { err: new ServiceError({ code: 'A_CODE', kind: 'invalid', message: 'what', hint: 'do this' }) });
    expect(lines[0]).toContain('A_CODE: what  (do this)');
    expect(lines[0]).not.toContain('\u001b');
    const coloured = capture({ format: 'pretty', colour: true });
    coloured.logger.error('stopped');
    expect(coloured.lines[0]).toContain('\u001b[31merror\u001b[0m');
  });
});

it('the silent logger is its own child', () => {
  expect(silentLogger.child({})).toBe(silentLogger);
});
