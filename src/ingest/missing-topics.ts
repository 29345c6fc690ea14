import type { Clock } from '../base/clock.ts';
import type { IngestObserver } from './ingest-observer.ts';

/** How often a topic that is missing is spoken of. */
const repeatMs = 300_000;
const hint = 'create the topic, or correct ingest.routes; it is read as soon as it exists';

/** Topics that are wanted and do not exist: spoken of when that is found out, and again from time to time. */
export class MissingTopics {
  readonly #clock: Clock;
  readonly #observer: Pick<IngestObserver, 'warning'>;
  #topics: readonly string[] = [];
  #saidMs = 0;

  constructor({ clock, observer }: { readonly clock: Clock; readonly observer: Pick<IngestObserver, 'warning'> }) {
    this.#clock = clock;
    this.#observer = observer;
  }

  /** `undefined`: none is missing. */
  get detail(): string | undefined {
    if (this.#topics.length === 0) return undefined;
    return `waiting for topic ${this.#topics.map((topic) => `"${topic}"`).join(', ')}, which does not exist; ${hint}`;
  }

  /** Those that are missing now. Answers whether one that was is there. */
  update(topics: readonly string[]): boolean {
    const hasCome = this.#topics.some((topic) => !topics.includes(topic));
    this.#topics = topics;
    if (topics.length > 0) this.#say();
    return hasCome;
  }

  /** Speaks of them when it is time, `Clock.monotonicMs`. */
  sweep(nowMs: number): void {
    if (this.#topics.length > 0 && nowMs - this.#saidMs >= repeatMs) this.#say();
  }

  #say(): void {
    this.#saidMs = this.#clock.monotonicMs();
    this.#observer.warning('waiting for topic', { topics: this.#topics.join(', '), hint });
  }
}
