import { serviceError } from '../../../src/base/errors.ts';
import type { NewSchema, SchemaSubjects } from '../../../src/protocol/schema-subjects.ts';

/** A registry in memory: numbers by text, schemas by subject. */
export class MemorySubjects implements SchemaSubjects {
  readonly bySubject: Map<string, NewSchema[]> = new Map();
  readonly #ids = new Map<string, number>();
  asked = 0;
  refuses: string | undefined;
  isDown = false;

  put(subject: string, schema: NewSchema): number {
    this.bySubject.set(subject, [...(this.bySubject.get(subject) ?? []), schema]);
    return this.#idOf(schema);
  }

  #idOf({ text }: NewSchema): number {
    const id = this.#ids.get(text) ?? this.#ids.size + 1;
    this.#ids.set(text, id);
    return id;
  }

  #ask(): void {
    this.asked += 1;
    if (this.isDown) throw serviceError.unavailable('REGISTRY_UNAVAILABLE', 'it is down');
  }

  register(subject: string, schema: NewSchema): ReturnType<SchemaSubjects['register']> {
    this.#ask();
    if (this.refuses !== undefined) return Promise.resolve({ kind: 'refused', reason: this.refuses });
    return Promise.resolve({ kind: 'registered', id: this.put(subject, schema) });
  }

  find(subject: string, schema: NewSchema): Promise<number | undefined> {
    this.#ask();
    const has = this.bySubject.get(subject)?.some(({ text }) => text === schema.text) === true;
    return Promise.resolve(has ? this.#idOf(schema) : undefined);
  }

  latest(subject: string): ReturnType<SchemaSubjects['latest']> {
    this.#ask();
    const schema = this.bySubject.get(subject)?.at(-1);
    return Promise.resolve(schema === undefined ? undefined : { ...schema, id: this.#idOf(schema) });
  }

  refusal(): Promise<string | undefined> {
    return Promise.resolve(this.refuses);
  }
}
