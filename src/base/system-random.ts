import { randomBytes } from 'node:crypto';
import type { Random } from './random.ts';

/** The operating system's randomness. */
export class SystemRandom implements Random {
  next(): number {
    return randomBytes(6).readUIntBE(0, 6) / 0x1_0000_0000_0000;
  }

  bytes(length: number): Uint8Array {
    return randomBytes(length);
  }
}
