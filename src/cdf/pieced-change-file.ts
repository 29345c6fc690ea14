import type { ChangePiece, OpenChangeFile, PhaseCounts } from './change-file.ts';
import { PieceCursor } from './piece-cursor.ts';
import type { Phase } from './version-segments.ts';

/** A change file whose pieces are read one after the other: one of them is in memory. */
export class PiecedChangeFile implements OpenChangeFile {
  readonly counts: PhaseCounts;
  readonly #pieces: (phase: Phase) => AsyncGenerator<ChangePiece>;
  readonly #close: () => Promise<void>;
  #reading: { readonly phase: Phase; readonly cursor: PieceCursor } | undefined;

  constructor(parts: {
    readonly counts: PhaseCounts;
    readonly pieces: (phase: Phase) => AsyncGenerator<ChangePiece>;
    readonly close?: () => Promise<void>;
  }) {
    this.counts = parts.counts;
    this.#pieces = parts.pieces;
    this.#close = parts.close ?? (() => Promise.resolve());
  }

  async pieceAt(phase: Phase, position: number): Promise<ChangePiece> {
    let reading = this.#reading;
    if (reading?.phase !== phase || reading.cursor.position > position) {
      await this.#end();
      reading = { phase, cursor: new PieceCursor(this.#pieces(phase)) };
      this.#reading = reading;
    }
    try {
      return await reading.cursor.at(position);
    } catch (error) {
      await this.#end();
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#end();
    await this.#close();
  }

  async #end(): Promise<void> {
    const reading = this.#reading;
    this.#reading = undefined;
    await reading?.cursor.close();
  }
}
