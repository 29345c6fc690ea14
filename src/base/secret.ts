import { mask } from './redaction.ts';

/** A credential that prints as `***` wherever it is logged, serialised or inspected. */
export class Secret {
  readonly #value: string | (() => string);

  /** `value`: the credential, or what reads it: asked each time, so that it may change where it is kept. */
  constructor(value: string | (() => string)) {
    this.#value = value;
  }

  /** The credential itself; call only where it is handed to the client that needs it. */
  reveal(): string {
    return typeof this.#value === 'string' ? this.#value : this.#value();
  }

  toString(): string {
    return mask;
  }

  toJSON(): string {
    return mask;
  }
}
