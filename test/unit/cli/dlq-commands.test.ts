import { describe, expect, it } from 'vitest';
import type { AppCommands } from '../../../src/app/app-commands.ts';
import type { StoredLetter } from '../../../src/ingest/letters/stored-letter.ts';
import { cli } from './cli-support.ts';

const letter: StoredLetter = {
  place: { topic: 'demo.dlq', partition: 0, offset: 12n },
  table: 'orders',
  pipeline: 'demo',
  reason: 'wrong-type',
  stage: 'VALUE_CONVERTER',
  message: 'column "amount": "abc" is not a decimal(12,2)',
  rejectedAt: '2026-01-02T03:04:05.678Z',
  source: { topic: 'orders', partition: 3, offset: 55n },
  name: undefined,
  history: undefined,
  untilOffset: undefined,
  cut: [],
  timestampMs: 0,
  key: undefined,
  value: Buffer.from('{"amount":"abc"}\u001b[31m'),
  headers: [
    ['trace', Buffer.from('t1')],
    ['authorization', Buffer.from('Bearer abc')],
    ['bits', Uint8Array.of(0xff, 0x00)],
  ],
};

type ListOptions = Parameters<AppCommands['listLetters']>[1];

function answering(
  letters: readonly StoredLetter[],
  replayedAt?: string,
): { readonly app: Partial<AppCommands>; readonly asked: ListOptions[] } {
  const asked: ListOptions[] = [];
  const listLetters: AppCommands['listLetters'] = async (_, options, onLetter) => {
    asked.push(options);
    for (const each of letters) await onLetter({ letter: each, replayedAt });
  };
  return { app: { listLetters, showLetter: () => Promise.resolve({ letter: letters[0] ?? letter, replayedAt }) }, asked };
}

describe('dlq list', () => {
  it('prints a line for each letter, and asks for those that are meant', async () => {
    const { app, asked } = answering([letter]);
    const flags =
      '--table orders --topic o --reason wrong-type --stage KEY_CONVERTER --since 2026-01-31T12:00:00Z --until 2026-02-01 --limit 5';
    const { code, out } = await cli(`dlq list ${flags}`, { app });
    expect(code).toBe(0);
    expect(out.split('\n')[1]).toMatch(/^0:12 +2026-01-02 03:04:05Z +- +orders +wrong-type +orders:3:55 +column "amount"/);
    const filter = {
      table: 'orders',
      topic: 'o',
      reason: 'wrong-type',
      stage: 'KEY_CONVERTER',
      sinceMs: Date.UTC(2026, 0, 31, 12),
      untilMs: Date.UTC(2026, 1, 1),
    };
    expect(asked).toEqual([{ filter, limit: 5 }]);
  });

  it('prints objects without payloads for programs, and says when there is nothing', async () => {
    const { app } = answering([letter]);
    const line: unknown = JSON.parse((await cli('dlq list --json', { app })).out);
    expect(line).toMatchObject({ partition: 0, offset: 12, reason: 'wrong-type', source: { topic: 'orders', partition: 3, offset: 55 } });
    expect(line).not.toHaveProperty('value');
    expect((await cli('dlq list', { app: answering([]).app })).out).toBe('no such letters\n');
    const files = { '/work/tidewater.yaml': 'pipeline: p\ntables: [{ name: orders, columns: [{ name: id, type: long }] }]' };
    const misspelt = await cli('dlq list --table order', { app: answering([]).app, files });
    expect(misspelt.out).toBe('no such letters; no table is called "order", did you mean "orders"?\n');
  });

  it('refuses a reason that no letter has, naming those there are', async () => {
    const { app, asked } = answering([letter]);
    const { code, err } = await cli('dlq list --reason wrong', { app });
    expect([code, err, asked]).toEqual([
      2,
      expect.stringMatching(/no letter has the reason "wrong"[\s\S]*batch-too-large, [\s\S]*wrong-type/),
      [],
    ]);
  });

  it('refuses what is no time', async () => {
    for (const text of ['yesterday', '2026-13-45']) {
      const { code, err } = await cli(`dlq list --since ${text}`);
      expect([code, err]).toEqual([2, expect.stringContaining('expected a time')]);
    }
  });
});

describe('dlq show', () => {
  it('prints a letter whole with its cure; secrets are masked and nothing commands the terminal', async () => {
    const { code, out } = await cli('dlq show 0:12', { app: answering([letter]).app, terminal: true });
    expect(code).toBe(0);
    expect(out).toContain('cure       correct the producer, or give the column the type that it sends\n');
    expect(out).toContain('source     orders:3:55\n');
    expect(out).toContain('header     trace = t1\nheader     authorization = ***\nheader     bits = 0xff00\n');
    expect(out).toContain('key        null\nvalue      21 bytes:\n{"amount":"abc"}\\u001b[31m\n');
  });

  it('writes bytes as they are, or as base64 in JSON', async () => {
    const value = Uint8Array.of(0, 0xff, 10);
    const { app } = answering([{ ...letter, value }]);
    expect(Buffer.from((await cli('dlq show 0:12 --raw value', { app })).out, 'latin1')).toEqual(Buffer.from(value));
    expect(JSON.parse((await cli('dlq show 0:12 --json', { app })).out)).toMatchObject({ value: { base64: 'AP8K' }, key: null });
    expect((await cli('dlq show 0:12', { app })).out).toContain('3 bytes, no text, in hexadecimal digits:\n00ff0a\n');
  });

  it('cuts a long value, and says how much is left', async () => {
    const { app } = answering([{ ...letter, value: Buffer.alloc(80 * 1024, 'é') }]);
    expect((await cli('dlq show 0:12', { app })).out).toContain('… 16.0 KiB more, with --raw value\n');
  });

  it('refuses what is no place', async () => {
    const { code, err } = await cli('dlq show 12');
    expect([code, err]).toEqual([2, expect.stringContaining('expected <partition>:<offset>')]);
  });
});

describe('letters that were replayed', () => {
  const history = {
    ...{ topic: 'orders', partition: 3, offset: 55n, timestampMs: 0, times: 2 },
    ...{ firstReason: 'invalid-json', firstRejectedAt: '2026-01-01T00:00:00.000Z' },
  };
  const { app } = answering([{ ...letter, history }], '2026-02-03T00:00:00.000Z');

  it('are told by list and show, with why they were letters at first', async () => {
    expect((await cli('dlq list', { app })).out.split('\n')[1]).toMatch(/^0:12 +2026-01-02 03:04:05Z +2026-02-03 00:00:00Z +orders/);
    const { out } = await cli('dlq show 0:12', { app });
    expect(out).toContain('replayed   at 2026-02-03T00:00:00.000Z\n');
    expect(out).toContain('before     replayed 2 times, at first rejected at 2026-01-01T00:00:00.000Z: invalid-json\n');
    expect(JSON.parse((await cli('dlq show 0:12 --json', { app })).out)).toMatchObject({
      replayedAt: '2026-02-03T00:00:00.000Z',
      timesReplayed: 2,
      firstReason: 'invalid-json',
    });
  });
});

describe('dlq replay', () => {
  type ReplayRequest = Parameters<AppCommands['replayLetters']>[1];
  const outcomes = [
    { kind: 'replayed' },
    { kind: 'replayed-before', at: '2026-02-03T00:00:00.000Z' },
    { kind: 'refused', why: 'not-whole' },
  ] as const;

  function replaying(refused: number): { readonly app: Partial<AppCommands>; readonly asked: ReplayRequest[] } {
    const asked: ReplayRequest[] = [];
    const replayLetters: AppCommands['replayLetters'] = async (_, request, onOutcome) => {
      asked.push(request);
      for (const outcome of outcomes.slice(0, refused > 0 ? 3 : 2)) await onOutcome(letter, outcome);
      return { replayed: 1, replayedBefore: 1, otherPipelines: 2, refused };
    };
    return { app: { replayLetters }, asked };
  }

  it('says what was replayed and what was not, and fails when a letter cannot be', async () => {
    const { app, asked } = replaying(1);
    const { code, out } = await cli('dlq replay --table orders --limit 3 --again', { app });
    expect(code).toBe(1);
    expect(out.split('\n')).toEqual([
      'replayed  0:12  orders  orders:3:55',
      expect.stringMatching(/^not replayed {2}0:12 {2}orders {2}orders:3:55 {2}not-whole: the letter holds only the beginning/),
      '1 letter replayed, 1 were replayed before, 2 of other pipelines left alone, 1 cannot be replayed',
      '',
    ]);
    expect(asked).toMatchObject([{ filter: { table: 'orders' }, places: undefined, limit: 3, dryRun: false, again: true }]);
  });

  it('takes places, and prints objects for programs', async () => {
    const { app, asked } = replaying(0);
    const { code, out } = await cli('dlq replay 0:12 1:5 --dry-run --json', { app });
    expect(code).toBe(0);
    const lines = out
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    expect(lines).toMatchObject([
      { partition: 0, offset: 12, outcome: 'would-be-replayed', cure: null },
      { outcome: 'replayed-before', replayedAt: '2026-02-03T00:00:00.000Z' },
      { replayed: 1, refused: 0, dryRun: true },
    ]);
    const places = [
      { partition: 0, offset: 12n },
      { partition: 1, offset: 5n },
    ];
    expect(asked).toMatchObject([{ places, dryRun: true }]);
  });

  it('refuses places beside flags that choose, and what is no place', async () => {
    for (const [line, problem] of [
      ['dlq replay 0:12 --table t', 'named and chosen by flags'],
      ['dlq replay 12', 'expected <partition>:<offset>'],
    ] as const) {
      const { code, err } = await cli(line);
      expect([code, err]).toEqual([2, expect.stringContaining(problem)]);
    }
  });
});
