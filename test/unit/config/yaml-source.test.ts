import { describe, expect, it } from 'vitest';
import { load, loadError } from './config-support.ts';

const clientId = (yaml: string, env: Readonly<Record<string, string>> = {}, files: Readonly<Record<string, string>> = {}): string =>
  load({ files: { 'a.yaml': `pipeline: demo\nkafka: { clientId: ${yaml} }`, ...files }, env }).config.kafka.clientId;

describe('references', () => {
  it('an environment variable, with and without default', () => {
    expect(clientId('"${NAME}"', { NAME: 'x' })).toBe('x');
    expect(clientId('"a-${NAME}-${OTHER:-none}"', { NAME: 'x' })).toBe('a-x-none');
    expect(clientId('"${NAME:-fallback}"', { NAME: '' })).toBe('fallback');
  });

  it('a file, without its last line feed, found from the working directory', () => {
    expect(clientId('"${file:secrets/id}"', {}, { 'secrets/id': 'from file\n' })).toBe('from file');
    expect(clientId('"${file:/etc/id}"', {}, { '/etc/id': 'absolute' })).toBe('absolute');
  });

  it('a doubled dollar is a literal one', () => {
    expect(clientId('"$${NAME} costs $5"', { NAME: 'x' })).toBe('${NAME} costs $5');
  });

  it('a value never changes the structure, whatever it holds', () => {
    expect(clientId('"${NAME}"', { NAME: 'x }\nserver: { port: 1 }' })).toBe('x }\nserver: { port: 1 }');
  });

  it('a number in the environment can fill a number', () => {
    expect(load({ yaml: 'pipeline: demo\nserver:\n  port: ${PORT:-9000}', env: {} }).config.server.port).toBe(9000);
  });

  it.each([
    ['"${NAME}"', 'CONFIG_VARIABLE_UNSET', 'a.yaml:2:20: environment variable NAME is not set'],
    ['"${file:/none}"', 'CONFIG_FILE_UNREADABLE', 'a.yaml:2:20: file /none cannot be read: no file /none'],
    ['"${1}"', 'CONFIG_REFERENCE_INVALID', 'a.yaml:2:20: "${1}" is no reference'],
  ])('%s that cannot be resolved is an error with its place', (yaml, code, message) => {
    const error = loadError({ yaml: `pipeline: demo\nkafka: { clientId: ${yaml} }` });
    expect([error.code, error.message]).toEqual([code, message]);
  });
});

describe('YAML', () => {
  it.each([
    ['pipeline: demo\nkafka: { clientId: [', 'a.yaml:2:21'],
    ['pipeline: demo\npipeline: again', 'a.yaml:2:1'],
    ['- a\n- b', 'a.yaml:1:1: a map is expected at the top'],
    ['? [a]\n: b', 'a key must be plain text'],
  ])('%j is refused with its place', (yaml, place) => {
    const error = loadError({ yaml });
    expect(error.code).toBe('CONFIG_YAML_INVALID');
    expect(error.message).toContain(place);
  });

  it('aliases are followed', () => {
    expect(load({ yaml: 'pipeline: &name demo\nkafka: { clientId: *name }' }).config.kafka.clientId).toBe('demo');
  });

  it('aliases that blow a file up are refused', () => {
    const levels = Array.from(
      { length: 12 },
      (_, level) => `l${level + 1}: &l${level + 1} [${Array.from({ length: 10 }, () => `*l${level}`).join(', ')}]`,
    );
    expect(loadError({ yaml: `pipeline: demo\nl0: &l0 [x]\n${levels.join('\n')}` }).message).toContain('follows more than 1000 aliases');
  });

  it('numbers that would not print as they were written stay text', () => {
    expect(clientId('0123')).toBe('0123');
    expect(clientId('1.10')).toBe('1.10');
    expect(clientId('12345678901234567890')).toBe('12345678901234567890');
  });

  it('an empty value counts as absent', () => {
    expect(load({ yaml: 'pipeline: demo\nkafka:\n  clientId:\nredis:' }).config.kafka.clientId).toBe('tidewater');
  });
});
