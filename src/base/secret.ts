const mask = '***';

/** A credential that prints as `***` wherever it is logged, serialised or inspected. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The credential itself; call only where it is handed to the client that needs it. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return mask;
  }

  toJSON(): string {
    return mask;
  }
}
