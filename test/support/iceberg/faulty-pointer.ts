import type { LoadedMetadata, MetadataChange, SwapOutcome, TablePointer } from '../../../src/iceberg/pointer/table-pointer.ts';

export interface PointerFaults {
  /** Runs before each swap. */
  readonly before?: (() => Promise<void>) | undefined;
  /** So many swaps are made and their answer is lost. */
  readonly loseAnswers?: number | undefined;
  /** So many swaps are made and are said to have been refused: the answer to a request that was sent twice on its way. */
  readonly refuseWhatIsDone?: number | undefined;
  /** So many swaps never arrive, and nobody says so. */
  readonly loseRequests?: number | undefined;
  /** Runs after each request that was lost. */
  readonly afterLoss?: (() => Promise<void>) | undefined;
}

/** A pointer whose swaps meet rivals or get lost. */
export class FaultyPointer implements TablePointer {
  readonly name: string;
  readonly singleWriterOnly: string | undefined;
  readonly #own: TablePointer;
  readonly #faults: PointerFaults;
  #answersToLose: number;
  #refusals: number;
  #requestsToLose: number;

  constructor(own: TablePointer, faults: PointerFaults) {
    this.name = own.name;
    this.singleWriterOnly = own.singleWriterOnly;
    this.#own = own;
    this.#faults = faults;
    this.#answersToLose = faults.loseAnswers ?? 0;
    this.#refusals = faults.refuseWhatIsDone ?? 0;
    this.#requestsToLose = faults.loseRequests ?? 0;
  }

  ownPlaces(loaded: LoadedMetadata): readonly string[] {
    return this.#own.ownPlaces(loaded);
  }

  load(known: LoadedMetadata | undefined, signal?: AbortSignal): Promise<LoadedMetadata | undefined> {
    return this.#own.load(known, signal);
  }

  async swap(base: LoadedMetadata | undefined, change: MetadataChange, signal?: AbortSignal): Promise<SwapOutcome> {
    await this.#faults.before?.();
    if (this.#requestsToLose > 0) {
      this.#requestsToLose -= 1;
      await this.#faults.afterLoss?.();
      return { kind: 'unknown', cause: new Error('the request timed out') };
    }
    const outcome = await this.#own.swap(base, change, signal);
    if (this.#answersToLose > 0) {
      this.#answersToLose -= 1;
      return { kind: 'unknown', cause: new Error('the answer timed out') };
    }
    if (this.#refusals > 0) {
      this.#refusals -= 1;
      return { kind: 'conflicted', reason: 'the version is there already' };
    }
    return outcome;
  }
}
