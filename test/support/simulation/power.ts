/**
 * Whether a simulated process runs. `suspended`: its calls are held, as while a machine sleeps; `off`: from then on none of its calls ever
 * comes back, which is what a crash looks like from inside.
 */
export class Power {
  #state: 'on' | 'suspended' | 'off' = 'on';
  #waiting: (() => void)[] = [];

  get state(): 'on' | 'suspended' | 'off' {
    return this.#state;
  }

  suspend(): void {
    if (this.#state === 'on') this.#state = 'suspended';
  }

  /** Lets all held calls go on, in the order they came. */
  resume(): void {
    if (this.#state !== 'suspended') return;
    this.#state = 'on';
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  cut(): void {
    this.#state = 'off';
    this.#waiting = [];
  }

  /** Resolves while the process runs. */
  async ready(): Promise<void> {
    // A loop: between waking up and going on the process may have been suspended again.
    while (this.#state !== 'on') {
      await new Promise<void>((resolve) => {
        if (this.#state === 'suspended') this.#waiting.push(resolve);
      });
    }
  }

  /** One call to the outside: begins and comes back only while the process runs. It may well take effect in between. */
  async pass<T>(call: () => Promise<T>): Promise<T> {
    await this.ready();
    try {
      return await call();
    } finally {
      await this.ready();
    }
  }
}
