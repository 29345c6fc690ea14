import { BytesBuilder } from '../../codec/columns/bytes-builder.ts';
import type { RejectReason } from '../../protocol/sealed-batch.ts';
import { CLOSE_BRACE, COMMA, OPEN_BRACE } from './json/json-bytes.ts';
import type { MetadataColumn } from './metadata-columns.ts';

/** Members of a record that no column takes, or not whole: one JSON object of them, as they stand in the payload. Null where there are none. */
export class RescuedMembers implements MetadataColumn {
  readonly column: BytesBuilder = new BytesBuilder({ kind: 'string' });
  /** Something within the member read last has no place. */
  isPartial = false;
  readonly #onMisfit: (reason: RejectReason) => void;
  #text = new Uint8Array(1024);
  #length = 0;

  /** `onMisfit`: told why a value does not fit its column, before it is rescued. */
  constructor(onMisfit: (reason: RejectReason) => void) {
    this.#onMisfit = onMisfit;
  }

  /** Forgets what was rescued of the record before. */
  begin(): void {
    this.#length = 0;
    this.isPartial = false;
  }

  /** Takes a member: its name, the colon and its value are `[from, until)`. */
  add(bytes: Uint8Array, from: number, until: number): void {
    this.isPartial = false;
    const needed = this.#length + until - from + 2;
    if (needed > this.#text.length) {
      const larger = new Uint8Array(Math.max(needed, this.#text.length * 2));
      larger.set(this.#text.subarray(0, this.#length));
      this.#text = larger;
    }
    this.#text[this.#length] = this.#length === 0 ? OPEN_BRACE : COMMA;
    this.#text.set(bytes.subarray(from, until), this.#length + 1);
    this.#length += 1 + until - from;
  }

  addMisfit(reason: RejectReason, bytes: Uint8Array, from: number, until: number): void {
    this.#onMisfit(reason);
    this.add(bytes, from, until);
  }

  append(): undefined {
    if (this.#length === 0) this.column.appendNull();
    else {
      this.#text[this.#length] = CLOSE_BRACE;
      this.column.append(this.#text, 0, this.#length + 1);
    }
  }
}
