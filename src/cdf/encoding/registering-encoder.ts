import type { ChangeEncoder, EncodeTask, EventSchemaIds } from '../../protocol/change-event.ts';
import type { SchemaSubjects } from '../../protocol/schema-subjects.ts';
import { withSelectedColumns } from '../selected-columns.ts';
import { registeredSchema } from './encodings.ts';
import { checkNumbered, type NumberedSchema, SchemaNumbers } from './schema-numbers.ts';

const ofNothing: EventSchemaIds = { key: 0, value: 0 };

/** Gives each version's records the numbers of their schemas. */
export class RegisteringEncoder implements ChangeEncoder {
  readonly #encoder: ChangeEncoder;
  readonly #numbers: SchemaNumbers;

  constructor(encoder: ChangeEncoder, subjects: SchemaSubjects) {
    this.#encoder = encoder;
    this.#numbers = new SchemaNumbers(subjects);
  }

  /**
   * As the encoder it is made of.
   *
   * @throws ServiceError as `SchemaNumbers.numberOf`.
   */
  async encode(task: EncodeTask, signal?: AbortSignal): Promise<Awaited<ReturnType<ChangeEncoder['encode']>>> {
    // Of a version without rows nobody needs a schema: columns that came and went are not told.
    if (task.changes.files.length === 0) return this.#encoder.encode({ ...task, schemaIds: ofNothing }, signal);
    const selected = withSelectedColumns(task);
    const key = await this.#idOf(selected, 'key', signal);
    const value = await this.#idOf(selected, 'value', signal);
    return this.#encoder.encode({ ...task, schemaIds: { key, value } }, signal);
  }

  async #idOf(task: EncodeTask, part: 'key' | 'value', signal: AbortSignal | undefined): Promise<number | undefined> {
    const numbered = numberedOf(task, part);
    return numbered === undefined ? undefined : this.#numbers.numberOf(numbered, signal);
  }
}

/** What a registry would say of the schema of a feed's keys or values; `undefined`: they have none there. Registers nothing. */
export async function checkSchema(
  task: EncodeTask,
  part: 'key' | 'value',
  subjects: SchemaSubjects,
  signal?: AbortSignal,
): Promise<{ readonly subject: string; readonly problem: string | undefined } | undefined> {
  const numbered = numberedOf(withSelectedColumns(task), part);
  return numbered === undefined ? undefined : checkNumbered(numbered, subjects, signal);
}

function numberedOf(task: EncodeTask, part: 'key' | 'value'): NumberedSchema | undefined {
  const schema = registeredSchema(task, part);
  return schema === undefined ? undefined : { topic: task.spec.topic, part, schema, records: task.spec.records };
}
