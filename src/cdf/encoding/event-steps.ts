import { RecordBuffer } from './record-buffer.ts';

/** One step of appending an event. */
export type EventStep =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'ordinal' }
  | { readonly kind: 'event-number' }
  /** The members of the row. */
  | { readonly kind: 'row' }
  | { readonly kind: 'image'; readonly image: 'before' | 'after'; readonly tag: Uint8Array };

/** Collects steps; what is the same in all events becomes one piece of bytes. */
export class EventSteps {
  readonly #steps: EventStep[] = [];
  /** Bytes that are the same in all events. */
  readonly bytes: RecordBuffer = new RecordBuffer();

  add(step: EventStep): void {
    this.#flush();
    this.#steps.push(step);
  }

  append(steps: readonly EventStep[]): void {
    for (const step of steps) {
      if (step.kind === 'bytes') this.bytes.chunk(step.bytes);
      else this.add(step);
    }
  }

  finish(): readonly EventStep[] {
    this.#flush();
    return this.#steps;
  }

  #flush(): void {
    if (this.bytes.length === 0) return;
    this.#steps.push({ kind: 'bytes', bytes: this.bytes.copy() });
    this.bytes.clear();
  }
}

/** Bytes of the numbers that differ from event to event. */
export interface NumberSizes {
  readonly ordinal: number;
  readonly eventNumber: number;
}

/** How many bytes steps append; rows are not among them. */
export function sizeOfSteps(steps: readonly EventStep[], sizes: NumberSizes): number {
  const sizeOf = (step: EventStep): number => {
    if (step.kind === 'bytes') return step.bytes.length;
    return step.kind === 'event-number' ? sizes.eventNumber : sizes.ordinal;
  };
  return steps.reduce((sum, step) => sum + sizeOf(step), 0);
}
