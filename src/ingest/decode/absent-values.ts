import { BytesBuilder } from '../../codec/columns/bytes-builder.ts';
import type { ColumnSource } from '../../protocol/sealed-batch.ts';
import type { MetadataColumn } from './metadata-columns.ts';

/** Which columns the record being read leaves as they are, a bit for each, as a column of bytes: none where it leaves none. */
export class AbsentValues implements MetadataColumn {
  readonly column: BytesBuilder = new BytesBuilder({ kind: 'binary' });
  /** A member that is not there leaves its column as it is. */
  readonly whenMissing: boolean;
  readonly #columns: readonly string[];
  readonly #bits: Uint8Array;
  #any = false;

  constructor({ columns, when }: Extract<ColumnSource, { kind: 'absent' }>) {
    this.#columns = columns;
    this.whenMissing = when === 'missing';
    this.#bits = new Uint8Array((columns.length + 7) >> 3);
  }

  /** The bit of a column; -1: every record has a value for it. */
  bitOf(name: string): number {
    return this.#columns.indexOf(name);
  }

  /** Forgets the record before. */
  begin(): void {
    if (!this.#any) return;
    this.#bits.fill(0);
    this.#any = false;
  }

  note(bit: number): void {
    this.#bits[bit >> 3] = (this.#bits[bit >> 3] ?? 0) | (1 << (bit & 7));
    this.#any = true;
  }

  append(): undefined {
    this.column.append(this.#bits, 0, this.#any ? this.#bits.length : 0);
  }
}
