import type { Clock, EpochMs } from '../base/clock.ts';

/** `degraded`: works, but something needs looking at. `stopped`: ended in good order. */
export type ComponentState = 'starting' | 'running' | 'degraded' | 'failed' | 'stopped';

export interface ComponentOptions {
  /** False: the process counts as ready whatever this component's state is (maintenance, when Redis is away). Default true. */
  readonly requiredForReadiness?: boolean | undefined;
}

/** One component's say. */
export interface HealthReporter {
  /** `detail` says what and why, for people; it must hold no secrets. */
  report(state: ComponentState, detail?: string): void;
  /** Forgets the component. */
  remove(): void;
}

export interface ComponentHealth {
  readonly name: string;
  readonly state: ComponentState;
  readonly detail: string | undefined;
  readonly since: EpochMs;
  readonly requiredForReadiness: boolean;
}

export interface HealthReport {
  /** All required components run, possibly degraded, and the process is not draining. */
  readonly ready: boolean;
  /** No required component is starting; once true it stays true. */
  readonly started: boolean;
  readonly draining: boolean;
  readonly components: readonly ComponentHealth[];
}

/** What the components of this process say about themselves. Depends on no remote system. */
export class HealthRegistry {
  readonly #clock: Clock;
  readonly #components = new Map<string, ComponentHealth>();
  #started = false;
  #draining = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Registers a component, `starting`; a name that is taken is taken over. */
  component(name: string, options: ComponentOptions = {}): HealthReporter {
    const requiredForReadiness = options.requiredForReadiness ?? true;
    const set = (state: ComponentState, detail: string | undefined): void => {
      const before = this.#components.get(name);
      const since = before?.state === state ? before.since : this.#clock.now();
      this.#components.set(name, { name, state, detail, since, requiredForReadiness });
    };
    set('starting', undefined);
    return {
      report: set,
      remove: () => {
        this.#components.delete(name);
      },
    };
  }

  /** From here on the process is not ready: it finishes what it has and takes nothing more. */
  beginDrain(): void {
    this.#draining = true;
  }

  report(): HealthReport {
    const components = [...this.#components.values()];
    const required = components.filter((component) => component.requiredForReadiness);
    this.#started ||= required.length > 0 && required.every(({ state }) => state !== 'starting');
    const up = required.length > 0 && required.every(({ state }) => state === 'running' || state === 'degraded');
    return { ready: up && !this.#draining, started: this.#started, draining: this.#draining, components };
  }
}
