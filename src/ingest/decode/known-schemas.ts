import type { RegisteredSchema, SchemaKey } from '../../protocol/payload-encoding.ts';

/** Far more than the schemas of any topics; what is dropped is asked for again. */
const maxSchemas = 4_096;

/** The schemas of the registry that this thread was given, and the keys of those it lacks. */
export class KnownSchemas {
  readonly #schemas = new Map<SchemaKey, RegisteredSchema>();
  readonly #missing = new Set<SchemaKey>();

  add(schemas: readonly RegisteredSchema[]): void {
    if (this.#schemas.size + schemas.length > maxSchemas) this.#schemas.clear();
    for (const schema of schemas) this.#schemas.set(schema.key, schema);
  }

  /** `undefined`, and noted as missing, when it was not given. */
  find(key: SchemaKey): RegisteredSchema | undefined {
    const found = this.#schemas.get(key);
    if (found === undefined) this.#missing.add(key);
    return found;
  }

  /** What was looked for in vain since the last call. */
  takeMissing(): readonly SchemaKey[] {
    const keys = [...this.#missing];
    this.#missing.clear();
    return keys;
  }

  /** Forgets that the registry has none of some keys: it may have them by now. */
  forgetUnknown(): void {
    for (const [key, { schema }] of this.#schemas) if (schema === undefined) this.#schemas.delete(key);
  }
}
