import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/base/errors.ts';
import { isGrant, type StorageProperties } from '../../../src/base/storage-settings.ts';
import { mergedSettings } from '../../../src/storage/merged-settings.ts';
import { VendedSettings } from '../../../src/storage/vended-settings.ts';
import { StepClock } from '../../support/step-clock.ts';

const minuteMs = 60_000;

function pair(name: string, endMs?: number): StorageProperties {
  const end = endMs === undefined ? {} : { 's3.session-token-expires-at-ms': String(endMs) };
  return { 's3.access-key-id': name, 's3.secret-access-key': `${name}-secret`, ...end };
}

/** A catalog that hands out what it is told, in order. */
class Catalog {
  readonly clock = new StepClock();
  asked = 0;
  next: (StorageProperties | Error)[] = [];
  hold: Promise<void> = Promise.resolve();
  readonly settings: VendedSettings;

  constructor(first: (now: number) => StorageProperties, renews = true) {
    this.settings = new VendedSettings({ ask: () => this.#ask(), renews, clock: this.clock });
    this.settings.offer(first(this.clock.now()));
  }

  /** An end in so many minutes. */
  in(minutes: number): number {
    return this.clock.now() + minutes * minuteMs;
  }

  async #ask(): Promise<StorageProperties> {
    this.asked += 1;
    await this.hold;
    const next = this.next.shift();
    if (next === undefined || next instanceof Error) throw next ?? new Error('nothing more to hand out');
    return next;
  }
}

const away = new ServiceError({ code: 'STORAGE_CREDENTIALS_NOT_RENEWED', kind: 'unavailable', message: 'away' });

describe('settings that are handed out', () => {
  it('are renewed five minutes before they end, or at half of their time when that is shorter', async () => {
    const hour = new Catalog((now) => pair('a', now + 60 * minuteMs));
    hour.clock.advance(54 * minuteMs);
    expect(await hour.settings.current()).toMatchObject({ 's3.access-key-id': 'a' });
    hour.clock.advance(minuteMs);
    hour.next = [pair('b', hour.in(60))];
    expect(await hour.settings.current()).toMatchObject({ 's3.access-key-id': 'b' });
    const brief = new Catalog((now) => pair('a', now + 2 * minuteMs));
    brief.next = [pair('b', brief.in(4))];
    brief.clock.advance(minuteMs - 1);
    expect(await brief.settings.current()).toMatchObject({ 's3.access-key-id': 'a' });
    brief.clock.advance(1);
    expect(await brief.settings.current()).toMatchObject({ 's3.access-key-id': 'b' });
  });

  it('are renewed once for all who want them at the same time', async () => {
    const catalog = new Catalog((now) => pair('a', now + minuteMs));
    catalog.clock.advance(minuteMs);
    catalog.next = [pair('b', catalog.in(60))];
    let release = (): void => undefined;
    catalog.hold = new Promise((resolve) => {
      release = resolve;
    });
    const all = [...Array.from({ length: 5 }, () => catalog.settings.current()), catalog.settings.insteadOf(pair('a', catalog.in(0)))];
    release();
    for (const each of await Promise.all(all)) expect(each).toMatchObject({ 's3.access-key-id': 'b' });
    expect(catalog.asked).toBe(1);
  });

  it('are used to their end when a renewal fails, which is tried again in a while and fails the caller at the end only', async () => {
    const catalog = new Catalog((now) => pair('a', now + 60 * minuteMs));
    catalog.clock.advance(56 * minuteMs);
    catalog.next = [away, away, away, pair('b', catalog.in(60))];
    expect(await catalog.settings.current()).toMatchObject({ 's3.access-key-id': 'a' });
    expect(await catalog.settings.current()).toMatchObject({ 's3.access-key-id': 'a' });
    expect(catalog.asked).toBe(1);
    catalog.clock.advance(minuteMs);
    expect(await catalog.settings.current()).toMatchObject({ 's3.access-key-id': 'a' });
    expect(catalog.asked).toBe(2);
    catalog.clock.advance(3 * minuteMs);
    await expect(catalog.settings.current()).rejects.toBe(away);
    expect(await catalog.settings.current()).toMatchObject({ 's3.access-key-id': 'b' });
  });

  it('are renewed when they are refused, unless others are there already or come to the same', async () => {
    const catalog = new Catalog(() => pair('a'));
    catalog.next = [pair('b'), pair('b')];
    expect(await catalog.settings.insteadOf(pair('a'))).toMatchObject({ 's3.access-key-id': 'b' });
    expect(await catalog.settings.insteadOf(pair('a'))).toMatchObject({ 's3.access-key-id': 'b' });
    expect(catalog.asked).toBe(1);
    // Just asked for: others would be refused too.
    expect(await catalog.settings.insteadOf(pair('b'))).toBeUndefined();
    expect(catalog.asked).toBe(1);
    catalog.clock.advance(minuteMs);
    expect(await catalog.settings.insteadOf(pair('b'))).toBeUndefined();
    expect(catalog.asked).toBe(2);
  });

  it('are not asked for without end when the clock of the catalog differs: then the store has the word', async () => {
    const catalog = new Catalog((now) => pair('a', now - 60 * minuteMs));
    expect(await catalog.settings.current()).toMatchObject({ 's3.access-key-id': 'a' });
    expect(catalog.asked).toBe(0);
    catalog.next = [pair('b', catalog.in(-60))];
    expect(await catalog.settings.insteadOf(catalog.settings.newest)).toMatchObject({ 's3.access-key-id': 'b' });
  });

  it('are never asked for where no credentials were handed out, or nobody wants them renewed', async () => {
    const none = new Catalog(() => ({ 's3.region': 'r' }));
    expect(await none.settings.insteadOf({ 's3.region': 'r', ...pair('own') })).toBeUndefined();
    const kept = new Catalog((now) => pair('a', now + 1), false);
    kept.clock.advance(minuteMs);
    expect(await kept.settings.current()).toMatchObject({ 's3.access-key-id': 'a' });
    expect([none.asked, kept.asked]).toEqual([0, 0]);
  });

  it('go on top of others, credentials as a whole, and stay renewable', async () => {
    const catalog = new Catalog((now) => pair('a', now + minuteMs));
    const own = { 's3.access-key-id': 'mine', 's3.session-token': 'my token', 's3.endpoint': 'http://s3' };
    const merged = mergedSettings(own, catalog.settings);
    if (!isGrant(merged)) throw new Error('the settings cannot be renewed any more');
    const first = await merged.current();
    expect(first).toEqual({ ...pair('a', catalog.in(1)), 's3.endpoint': 'http://s3' });
    catalog.next = [pair('b')];
    const second = await merged.insteadOf(first);
    expect(second).toEqual({ ...pair('b'), 's3.endpoint': 'http://s3' });
    expect(merged.newest).toEqual(second);
    expect(await merged.insteadOf(second ?? {})).toBeUndefined();
  });
});
