import type { Clock, EpochMs } from '../base/clock.ts';

/** `degraded`: works, but something needs looking at. `stopped`: ended in good order. */
export type ComponentState = 'starting' | 'running' | 'degraded' | 'failed' | 'stopped';

export interface ComponentOptions {
  /** False: the process counts as ready whatever this component's state is (maintenance, when Redis is away). Default true. */
  readonly requiredForReadiness?: boolean | undefined;
  /**
   * Asked at every report: what keeps the component from its work although it says that it is starting or running, for people; `undefined`:
   * nothing. With it the component counts as failed, until it is gone.
   */
  readonly impairment?: (() => string | undefined) | undefined;
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
  /** The process has started, all required components run, possibly degraded, and it is not draining. */
  readonly ready: boolean;
  /** All components are registered and at work, whatever they wait for; once true it stays true. */
  readonly started: boolean;
  readonly draining: boolean;
  readonly components: readonly ComponentHealth[];
}

/** What the components of this process say about themselves. Depends on no remote system. */
export class HealthRegistry {
  readonly #clock: Clock;
  readonly #components = new Map<string, ComponentHealth>();
  readonly #impairments = new Map<string, () => string | undefined>();
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
    this.#impairments.set(name, options.impairment ?? (() => undefined));
    set('starting', undefined);
    return {
      report: set,
      remove: () => {
        this.#components.delete(name);
        this.#impairments.delete(name);
      },
    };
  }

  /** Everything that this process is to do has been set to work. A process that has nothing to do is ready from here on. */
  begin(): void {
    this.#started = true;
  }

  /** From here on the process is not ready: it finishes what it has and takes nothing more. */
  beginDrain(): void {
    this.#draining = true;
  }

  /** One part by its name. */
  of(name: string): ComponentHealth | undefined {
    const component = this.#components.get(name);
    return component === undefined ? undefined : this.#judged(component);
  }

  report(): HealthReport {
    const components = [...this.#components.values()].map((component) => this.#judged(component));
    const required = components.filter((component) => component.requiredForReadiness);
    const up = required.every(({ state }) => state === 'running' || state === 'degraded');
    return { ready: this.#started && up && !this.#draining, started: this.#started, draining: this.#draining, components };
  }

  #judged(component: ComponentHealth): ComponentHealth {
    if (component.state === 'failed' || component.state === 'stopped') return component;
    const impairment = this.#impairments.get(component.name)?.();
    return impairment === undefined ? component : { ...component, state: 'failed', detail: impairment };
  }
}
