import { assert } from '../base/assert.ts';
import { type ChangePiece, pieceFrom } from './change-file.ts';

/** Goes forward through pieces that follow each other. */
export class PieceCursor {
  readonly #pieces: AsyncGenerator<ChangePiece>;
  #piece: ChangePiece | undefined;
  #position = 0;

  constructor(pieces: AsyncGenerator<ChangePiece>) {
    this.#pieces = pieces;
  }

  /** Of the first row that can still be asked for. */
  get position(): number {
    return this.#position;
  }

  /** The piece, or the rest of one, that begins with the row of this position. */
  async at(position: number): Promise<ChangePiece> {
    for (;;) {
      const piece = this.#piece;
      if (piece !== undefined && position < this.#position + piece.order.length) return pieceFrom(piece, position - this.#position);
      const next = await this.#pieces.next();
      assert(next.done !== true, 'a change file has as many rows as were counted');
      this.#position += piece?.order.length ?? 0;
      this.#piece = next.value;
    }
  }

  async close(): Promise<void> {
    this.#piece = undefined;
    await this.#pieces.return(undefined);
  }
}
