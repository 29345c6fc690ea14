import type { Clock } from '../base/clock.ts';
import type { StorageGrant, StorageProperties } from '../base/storage-settings.ts';
import { credentialsEndMs, holdsCredentials } from './s3/s3-settings.ts';

/** Credentials are replaced so long before they end, or at half of their time when that is shorter. */
const renewBeforeMs: number = 5 * 60_000;
/** Credentials of which nobody says when they end are taken for fresh for so long. */
const freshMs: number = renewBeforeMs;
/** Until credentials end, a renewal that failed is not tried again for so long. */
const retryPauseMs = 30_000;
/** Credentials that are refused sooner than this after they were asked for are not asked for again: others would be refused too. */
const minRenewalMs = 100;

export interface VendedSettingsParts {
  /** Asks whoever hands them out. The errors are the callers' to see: they name the table and show no secret. */
  readonly ask: (newest: StorageProperties) => Promise<StorageProperties>;
  /** False: what was handed out first is used as long as it is accepted. */
  readonly renews: boolean;
  readonly clock: Clock;
}

/**
 * Settings of a table's store as a catalog hands them out, with credentials that end. Nothing happens in the background: whoever uses them when
 * they end soon waits for others. A renewal that fails hurts nobody before the end.
 */
export class VendedSettings implements StorageGrant {
  readonly #parts: VendedSettingsParts;
  #newest: StorageProperties = {};
  #endMs = Number.POSITIVE_INFINITY;
  #renewAtMs = Number.POSITIVE_INFINITY;
  #freshUntilMs = Number.NEGATIVE_INFINITY;
  /** By the monotonic clock. */
  #askedMs = Number.NEGATIVE_INFINITY;
  #asking: Promise<StorageProperties> | undefined;

  constructor(parts: VendedSettingsParts) {
    this.#parts = parts;
  }

  get newest(): StorageProperties {
    return this.#newest;
  }

  get renews(): boolean {
    return this.#parts.renews && holdsCredentials(this.#newest) && this.#newest['client.refresh-credentials-enabled'] !== 'false';
  }

  /**
   * Settings that came along with something else. They are left where those at hand are fresh: servers that make credentials with each answer
   * would have connections made with each too.
   */
  offer(properties: StorageProperties): void {
    if (this.#parts.clock.now() >= this.#freshUntilMs) this.#take(properties);
  }

  async current(): Promise<StorageProperties> {
    const { clock } = this.#parts;
    if (!this.renews || clock.now() < this.#renewAtMs) return this.#newest;
    try {
      return await this.#renewed();
    } catch (error) {
      const nowMs = clock.now();
      if (nowMs >= this.#endMs) throw error;
      this.#renewAtMs = Math.min(this.#endMs, nowMs + retryPauseMs);
      return this.#newest;
    }
  }

  async insteadOf(refused: StorageProperties): Promise<StorageProperties | undefined> {
    if (!holdsAll(refused, this.#newest)) return this.#newest;
    if (!this.renews || this.#parts.clock.monotonicMs() - this.#askedMs < minRenewalMs) return undefined;
    const others = await this.#renewed();
    return holdsAll(refused, others) ? undefined : others;
  }

  #take(properties: StorageProperties): void {
    const nowMs = this.#parts.clock.now();
    const endMs = credentialsEndMs(properties);
    const leftMs = endMs === undefined ? 0 : endMs - nowMs;
    this.#newest = properties;
    // Credentials that have ended when they are handed out come from a clock that differs: then only the store knows.
    this.#endMs = leftMs > 0 ? nowMs + leftMs : Number.POSITIVE_INFINITY;
    this.#renewAtMs = this.#endMs - Math.min(renewBeforeMs, leftMs / 2);
    const freshUntilMs = leftMs > 0 ? this.#renewAtMs : nowMs + freshMs;
    this.#freshUntilMs = holdsCredentials(properties) ? freshUntilMs : Number.NEGATIVE_INFINITY;
  }

  /** Whoever asks first asks for all. */
  #renewed(): Promise<StorageProperties> {
    this.#asking ??= this.#ask();
    return this.#asking;
  }

  async #ask(): Promise<StorageProperties> {
    try {
      this.#take(await this.#parts.ask(this.#newest));
      return this.#newest;
    } finally {
      this.#askedMs = this.#parts.clock.monotonicMs();
      this.#asking = undefined;
    }
  }
}

/** The settings of a store hold others beside those that were handed out. */
function holdsAll(properties: StorageProperties, some: StorageProperties): boolean {
  return Object.entries(some).every(([name, value]) => properties[name] === value);
}
