import { corruptOrc } from '../orc-errors.ts';

/** Bytes that are read once from front to back. `place` names them in errors. Reading past the end is `ORC_FILE_CORRUPT`. */
export class ByteSource {
  readonly bytes: Uint8Array;
  readonly place: string;
  position = 0;

  constructor(bytes: Uint8Array, place: string) {
    this.bytes = bytes;
    this.place = place;
  }

  get remaining(): number {
    return this.bytes.length - this.position;
  }

  byte(): number {
    const value = this.bytes[this.position];
    if (value === undefined) throw this.corrupt('it ends where a byte must follow');
    this.position += 1;
    return value;
  }

  /** Moves past `count` bytes and returns where they begin. */
  skip(count: number): number {
    if (count > this.remaining) throw this.corrupt(`${count} bytes must follow, ${this.remaining} do`);
    const at = this.position;
    this.position += count;
    return at;
  }

  /** A view of the next `count` bytes. */
  take(count: number): Uint8Array {
    const at = this.skip(count);
    return this.bytes.subarray(at, at + count);
  }

  corrupt(message: string): Error {
    return corruptOrc(this.place, `byte ${this.position}: ${message}`);
  }
}
