import { serviceError } from '../../base/errors.ts';
import { LruCache } from '../../base/lru-cache.ts';
import type { ChangeEncoder, EncodeTask, EventSchemaIds, Registration, SubjectStrategy } from '../../protocol/change-event.ts';
import type { SchemaSubjects } from '../../protocol/schema-subjects.ts';
import { withSelectedColumns } from '../selected-columns.ts';
import { type EventSchema, registeredSchema } from './encodings.ts';
import { differenceOnTheWire } from './schema-difference.ts';

/** Of the schemas of one feed; a table has as many as its columns were changed. */
const maxKnown = 1_000;

const ofNothing: EventSchemaIds = { key: 0, value: 0 };

/** Gives each version's records the numbers of their schemas; numbers never change, so each schema is asked for once. */
export class RegisteringEncoder implements ChangeEncoder {
  readonly #encoder: ChangeEncoder;
  readonly #subjects: SchemaSubjects;
  readonly #known = new LruCache<string, number>({ maxWeight: maxKnown });

  constructor(encoder: ChangeEncoder, subjects: SchemaSubjects) {
    this.#encoder = encoder;
    this.#subjects = subjects;
  }

  /**
   * As the encoder it is made of.
   *
   * @throws ServiceError `FEED_SCHEMA_REFUSED`, `FEED_SCHEMA_UNREGISTERED`, `FEED_SCHEMA_DIFFERS` (all unavailable: what cures them is done in the
   *   registry, and found there), and those of the registry.
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
    const schema = registeredSchema(task, part);
    if (schema === undefined) return undefined;
    const subject = subjectOf(task.spec.topic, part, schema, task.spec.records.subjectStrategy);
    const known = `${subject}\u0000${schema.text}`;
    const id = this.#known.take(known) ?? (await this.#ask(subject, { schema, registration: task.spec.records.registration }, signal));
    this.#known.put(known, id, 1);
    return id;
  }

  async #ask(
    subject: string,
    { schema, registration }: { readonly schema: EventSchema; readonly registration: Registration },
    signal: AbortSignal | undefined,
  ): Promise<number> {
    if (registration === 'latest') {
      const latest = await this.#subjects.latest(subject, signal);
      if (latest === undefined)
        throw unregistered(subject, 'has no schema', 'register one, or let the feed do it with "registration: register"');
      const differs = differenceOnTheWire(schema, latest);
      if (differs !== undefined) throw differsFrom(subject, latest.id, differs);
      return latest.id;
    }
    if (registration === 'registered') {
      const id = await this.#subjects.find(subject, schema, signal);
      if (id !== undefined) return id;
      const hint = 'register it, or let the feed do it with "registration: register"';
      throw unregistered(subject, `does not have the schema of the feed's records: ${schema.text}`, hint);
    }
    const registered = await this.#subjects.register(subject, schema, signal);
    if (registered.kind === 'registered') return registered.id;
    throw refused(subject, registered.reason);
  }
}

/** What a registry would say of the schema of a feed's keys or values; `undefined`: they have none there. Registers nothing. */
export async function checkSchema(
  task: EncodeTask,
  part: 'key' | 'value',
  subjects: SchemaSubjects,
  signal?: AbortSignal,
): Promise<{ readonly subject: string; readonly problem: string | undefined } | undefined> {
  const selected = withSelectedColumns(task);
  const schema = registeredSchema(selected, part);
  if (schema === undefined) return undefined;
  const { subjectStrategy, registration } = task.spec.records;
  const subject = subjectOf(task.spec.topic, part, schema, subjectStrategy);
  if (registration === 'register') return { subject, problem: await subjects.refusal(subject, schema, signal) };
  if (registration === 'registered') {
    const isKnown = (await subjects.find(subject, schema, signal)) !== undefined;
    return { subject, problem: isKnown ? undefined : `it does not have the schema ${schema.text}` };
  }
  const latest = await subjects.latest(subject, signal);
  return { subject, problem: latest === undefined ? 'it has no schema' : differenceOnTheWire(schema, latest) };
}

function subjectOf(topic: string, part: 'key' | 'value', { recordName }: EventSchema, strategy: SubjectStrategy): string {
  if (strategy === 'topic') return `${topic}-${part}`;
  return strategy === 'record' ? recordName : `${topic}-${recordName}`;
}

function refused(subject: string, reason: string): Error {
  return serviceError.unavailable('FEED_SCHEMA_REFUSED', `subject "${subject}" refuses the schema of the table's new version: ${reason}`, {
    hint: 'the feed waits and has lost nothing: let the subject be compatible with the change (PUT /config/<subject> {"compatibility": "NONE"}), until the schema is registered, or take the change of the table back',
    context: { subject },
  });
}

function unregistered(subject: string, what: string, hint: string): Error {
  return serviceError.unavailable('FEED_SCHEMA_UNREGISTERED', `subject "${subject}" ${what}`, { hint, context: { subject } });
}

function differsFrom(subject: string, id: number, what: string): Error {
  return serviceError.unavailable(
    'FEED_SCHEMA_DIFFERS',
    `the newest schema of subject "${subject}" (${id}) is not that of the records: ${what}`,
    {
      hint: 'register the schema of the records as the newest, or let the feed do it with "registration: register"',
      context: { subject, id },
    },
  );
}
