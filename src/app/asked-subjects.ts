import type { NewSchema, RegisteredAs, SchemaSubjects } from '../protocol/schema-subjects.ts';

/** The subjects of a registry, and whether it owes somebody an answer. */
export class AskedSubjects implements SchemaSubjects {
  readonly #subjects: SchemaSubjects;
  #open = 0;

  constructor(subjects: SchemaSubjects) {
    this.#subjects = subjects;
  }

  get awaitsAnswer(): boolean {
    return this.#open > 0;
  }

  register(subject: string, schema: NewSchema, signal?: AbortSignal): Promise<RegisteredAs> {
    return this.#asked(this.#subjects.register(subject, schema, signal));
  }

  find(subject: string, schema: NewSchema, signal?: AbortSignal): Promise<number | undefined> {
    return this.#asked(this.#subjects.find(subject, schema, signal));
  }

  latest(subject: string, signal?: AbortSignal): ReturnType<SchemaSubjects['latest']> {
    return this.#asked(this.#subjects.latest(subject, signal));
  }

  refusal(subject: string, schema: NewSchema, signal?: AbortSignal): Promise<string | undefined> {
    return this.#asked(this.#subjects.refusal(subject, schema, signal));
  }

  async #asked<T>(answer: Promise<T>): Promise<T> {
    this.#open += 1;
    try {
      return await answer;
    } finally {
      this.#open -= 1;
    }
  }
}
