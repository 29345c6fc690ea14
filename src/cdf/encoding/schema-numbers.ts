import { serviceError } from '../../base/errors.ts';
import { LruCache } from '../../base/lru-cache.ts';
import type { RecordSettings, SubjectStrategy } from '../../protocol/change-event.ts';
import type { SchemaSubjects } from '../../protocol/schema-subjects.ts';
import type { EventSchema } from './encodings.ts';
import { differenceOnTheWire } from './schema-difference.ts';

/** Of the schemas of one feed; a table has as many as its columns were changed. */
const maxKnown = 1_000;

/** A schema with what says where in a registry it belongs. */
export interface NumberedSchema {
  readonly topic: string;
  readonly part: 'key' | 'value';
  readonly schema: EventSchema;
  readonly records: RecordSettings;
}

/** The numbers that a registry gave to schemas; they never change, so each schema is asked for once. */
export class SchemaNumbers {
  readonly #subjects: SchemaSubjects;
  readonly #known = new LruCache<string, number>({ maxWeight: maxKnown });

  constructor(subjects: SchemaSubjects) {
    this.#subjects = subjects;
  }

  /**
   * @throws ServiceError `FEED_SCHEMA_REFUSED`, `FEED_SCHEMA_UNREGISTERED`, `FEED_SCHEMA_DIFFERS` (all unavailable: what cures them is done in the
   *   registry, and found there), and those of the registry.
   */
  async numberOf(numbered: NumberedSchema, signal?: AbortSignal): Promise<number> {
    const subject = subjectOf(numbered);
    const known = `${subject}\u0000${numbered.schema.text}`;
    const id = this.#known.take(known) ?? (await this.#ask(subject, numbered, signal));
    this.#known.put(known, id, 1);
    return id;
  }

  async #ask(subject: string, { schema, records }: NumberedSchema, signal: AbortSignal | undefined): Promise<number> {
    if (records.registration === 'latest') {
      const latest = await this.#subjects.latest(subject, signal);
      if (latest === undefined)
        throw unregistered(subject, 'has no schema', 'register one, or let the feed do it with "registration: register"');
      const differs = differenceOnTheWire(schema, latest);
      if (differs !== undefined) throw differsFrom(subject, latest.id, differs);
      return latest.id;
    }
    if (records.registration === 'registered') {
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

/** What a registry would say of a schema, and in which subject; registers nothing. */
export async function checkNumbered(
  numbered: NumberedSchema,
  subjects: SchemaSubjects,
  signal?: AbortSignal,
): Promise<{ readonly subject: string; readonly problem: string | undefined }> {
  const { schema, records } = numbered;
  const subject = subjectOf(numbered);
  if (records.registration === 'register') return { subject, problem: await subjects.refusal(subject, schema, signal) };
  if (records.registration === 'registered') {
    const isKnown = (await subjects.find(subject, schema, signal)) !== undefined;
    return { subject, problem: isKnown ? undefined : `it does not have the schema ${schema.text}` };
  }
  const latest = await subjects.latest(subject, signal);
  return { subject, problem: latest === undefined ? 'it has no schema' : differenceOnTheWire(schema, latest) };
}

function subjectOf({ topic, part, schema, records }: NumberedSchema): string {
  const strategy: SubjectStrategy = records.subjectStrategy;
  if (strategy === 'topic') return `${topic}-${part}`;
  return strategy === 'record' ? schema.recordName : `${topic}-${schema.recordName}`;
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
