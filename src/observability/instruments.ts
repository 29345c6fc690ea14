import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Label values by label name. Bounded sets only: tables, topics, kinds; never an id. */
export type Labels<Name extends string> = Readonly<Record<Name, string>>;

/** Only grows. Named `…_total`. */
export interface Count<Name extends string = never> {
  add(value: number, labels: Labels<Name>): void;
}

/** Goes up and down. */
export interface Level<Name extends string = never> {
  set(value: number, labels: Labels<Name>): void;
  add(value: number, labels: Labels<Name>): void;
  /** Forgets the series, so that nothing stale is shown. */
  remove(labels: Labels<Name>): void;
}

/** Observations in buckets, in base units. */
export interface Distribution<Name extends string = never> {
  observe(value: number, labels: Labels<Name>): void;
}

export interface InstrumentDoc<Name extends string> {
  /** Without the application's prefix. */
  readonly name: string;
  readonly help: string;
  readonly labels: readonly Name[];
}

/** One metric as the reference page shows it. */
export interface MetricDescription {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
}

/** Prefix of every metric of the product. */
export const metricPrefix = 'tidewater_';

/** Makes the instruments of one registry and remembers what it made. */
export class InstrumentMaker {
  readonly #registry: Registry;
  readonly #catalogue: MetricDescription[] = [];

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /** In the order they were made. */
  get catalogue(): readonly MetricDescription[] {
    return this.#catalogue;
  }

  count<const Name extends string>(doc: InstrumentDoc<Name>): Count<Name> {
    const counter = new Counter(this.#register(doc, 'counter'));
    return {
      add: (value, labels) => {
        counter.inc(labels, value);
      },
    };
  }

  level<const Name extends string>(doc: InstrumentDoc<Name>): Level<Name> {
    const gauge = new Gauge(this.#register(doc, 'gauge'));
    return {
      set: (value, labels) => {
        gauge.set(labels, value);
      },
      add: (value, labels) => {
        gauge.inc(labels, value);
      },
      remove: (labels) => {
        gauge.remove(labels);
      },
    };
  }

  /** A level that is read when it is asked for. */
  observedLevel<const Name extends string>(
    doc: InstrumentDoc<Name>,
    read: () => readonly { readonly labels: Labels<Name>; readonly value: number }[],
  ): void {
    const gauge = new Gauge({
      ...this.#register(doc, 'gauge'),
      collect: () => {
        gauge.reset();
        for (const { labels, value } of read()) gauge.set(labels, value);
      },
    });
  }

  distribution<const Name extends string>(doc: InstrumentDoc<Name>, buckets: readonly number[]): Distribution<Name> {
    const histogram = new Histogram({ ...this.#register(doc, 'histogram'), buckets: [...buckets] });
    return {
      observe: (value, labels) => {
        histogram.observe(labels, value);
      },
    };
  }

  #register<Name extends string>(
    doc: InstrumentDoc<Name>,
    type: MetricDescription['type'],
  ): { name: string; help: string; labelNames: Name[]; registers: Registry[] } {
    const name = `${metricPrefix}${doc.name}`;
    this.#catalogue.push({ name, type, help: doc.help, labels: doc.labels });
    return { name, help: doc.help, labelNames: [...doc.labels], registers: [this.#registry] };
  }
}
