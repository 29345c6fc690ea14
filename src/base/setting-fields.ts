import { z } from 'zod';
import { isServiceError } from './errors.ts';
import { nearestName } from './nearest-name.ts';
import { parseByteSize, parseDuration } from './quantities.ts';
import { Secret } from './secret.ts';

/**
 * The kinds of values a setting can have. Each field carries its documentation, default, unit and range, from which the JSON Schema,
 * the default file and the reference page are made. Every field also takes text, because environment variables are text.
 */

interface FieldDoc<Default> {
  /** What it does, whole sentences. */
  readonly description: string;
  /** Absent: the setting is required. */
  readonly default?: Default | undefined;
}

/** In the JSON Schema a reference such as `${PORT}` is allowed wherever its value will be. */
const reference = '\\$\\{';

type Issue = (message: string) => never;

/** Text of 1 to `maxLength` characters that matches `pattern`. */
export function textField(
  doc: FieldDoc<string> & {
    readonly maxLength?: number | undefined;
    readonly pattern?: RegExp | undefined;
    readonly patternHint?: string | undefined;
    readonly emptyAllowed?: boolean | undefined;
  },
): z.ZodType<string> {
  const { maxLength = 1024, pattern, patternHint } = doc;
  const field = z.union([z.string(), z.number(), z.boolean()], { error: 'expected text' }).transform((raw, context) => {
    const fail = failWith(context);
    const text = String(raw);
    if (text === '' && doc.emptyAllowed !== true) return fail('must not be empty');
    if (text.length > maxLength) return fail(`is ${text.length} characters long, at most ${maxLength} are allowed`);
    if (text !== '' && pattern !== undefined && !pattern.test(text))
      return fail(`"${text}" ${patternHint ?? `does not match ${pattern.source}`}`);
    return text;
  });
  return documented(field, doc, {
    type: 'string',
    maxLength,
    pattern: pattern === undefined ? undefined : orReference(pattern.source),
  });
}

/** A whole number in `[min, max]`. */
export function integerField(
  doc: FieldDoc<number> & { readonly min: number; readonly max: number; readonly unit?: string | undefined },
): z.ZodType<number> {
  const field = z.union([z.number(), z.string()], { error: 'expected a whole number' }).transform((raw, context) => {
    const fail = failWith(context);
    const value = typeof raw === 'string' && /^-?\d+$/.test(raw.trim()) ? Number(raw) : raw;
    if (typeof value !== 'number' || !Number.isSafeInteger(value)) return fail(`expected a whole number, got "${String(raw)}"`);
    if (value < doc.min || value > doc.max) return fail(`${value} is outside ${doc.min} to ${doc.max}`);
    return value;
  });
  return documented(field, doc, {
    type: ['integer', 'string'],
    minimum: doc.min,
    maximum: doc.max,
    pattern: orReference('^-?\\d+$'),
    'x-unit': doc.unit,
  });
}

/** A duration with its unit (`30s`), read as milliseconds in `[min, max]`. */
export function durationField(doc: FieldDoc<string> & { readonly min: string; readonly max: string }): z.ZodType<number> {
  return quantityField(doc, { parse: parseDuration, noun: 'duration', type: 'duration' });
}

/** A size with its unit (`64MiB`, `1GB`), read as bytes in `[min, max]`. */
export function byteSizeField(doc: FieldDoc<string> & { readonly min: string; readonly max: string }): z.ZodType<number> {
  return quantityField(doc, { parse: parseByteSize, noun: 'size', type: 'bytes' });
}

export function booleanField(doc: FieldDoc<boolean>): z.ZodType<boolean> {
  const field = z.union([z.boolean(), z.string()], { error: 'expected true or false' }).transform((raw, context) => {
    if (raw === true || raw === 'true') return true;
    if (raw === false || raw === 'false') return false;
    return failWith(context)(`expected true or false, got "${raw}"`);
  });
  return documented(field, doc, { type: ['boolean', 'string'], pattern: orReference('^(true|false)$') });
}

/** One of the given words; upper and lower case are the same. */
export function choiceField<const Choice extends string>(choices: readonly Choice[], doc: FieldDoc<Choice>): z.ZodType<Choice> {
  const field = z.string({ error: `expected one of ${choices.join(', ')}` }).transform((raw, context) => {
    const found = choices.find((choice) => choice.toLowerCase() === raw.toLowerCase());
    if (found !== undefined) return found;
    const nearest = nearestName(raw, choices);
    const suggestion = nearest === undefined ? '' : `; did you mean "${nearest}"?`;
    return failWith(context)(`"${raw}" is none of ${choices.join(', ')}${suggestion}`);
  });
  return documented(field, doc, { anyOf: [{ enum: choices }, { type: 'string', pattern: reference }] });
}

/** A credential. Never printed. */
export function secretField(doc: { readonly description: string }): z.ZodType<Secret> {
  const field = z.union([z.string(), z.number()], { error: 'expected text' }).transform((raw) => new Secret(String(raw)));
  return field.meta({ description: doc.description, type: 'string', 'x-secret': true });
}

/** A list of texts that each match `pattern`; one text is split at commas, empty ones are left out. */
export function textListField(
  doc: FieldDoc<readonly string[]> & {
    readonly maxItems: number;
    readonly pattern?: RegExp | undefined;
    readonly patternHint?: string | undefined;
  },
): z.ZodType<readonly string[]> {
  const field = z
    .union([z.string(), z.array(z.string())], { error: 'expected a list of texts' })
    .transform((raw, context): readonly string[] => {
      const parts = (typeof raw === 'string' ? [raw] : raw).flatMap((part) => part.split(',')).map((part) => part.trim());
      const texts = parts.filter((part) => part !== '');
      const fail = failWith(context);
      if (texts.length > doc.maxItems) return fail(`has ${texts.length} entries, at most ${doc.maxItems} are allowed`);
      const misfit = texts.find((text) => doc.pattern?.test(text) === false);
      return misfit === undefined ? texts : fail(`"${misfit}" ${doc.patternHint ?? 'has another form'}`);
    });
  return documented(field, doc, { maxItems: doc.maxItems });
}

/** Names to texts; numbers and booleans are taken as they are written. */
export function textMapField(doc: FieldDoc<Readonly<Record<string, string>>>): z.ZodType<Readonly<Record<string, string>>> {
  const value = z.union([z.string(), z.number(), z.boolean()], { error: 'expected text' }).transform(String);
  return documented(z.record(z.string(), value), doc, { additionalProperties: { type: ['string', 'number', 'boolean'] } });
}

function quantityField(
  doc: FieldDoc<string> & { readonly min: string; readonly max: string },
  kind: { readonly parse: (text: string) => number; readonly noun: string; readonly type: string },
): z.ZodType<number> {
  const [min, max] = [kind.parse(doc.min), kind.parse(doc.max)];
  const field = z.union([z.string(), z.number()], { error: `expected a ${kind.noun}` }).transform((raw, context) => {
    const fail = failWith(context);
    try {
      const value = kind.parse(String(raw));
      return value >= min && value <= max ? value : fail(`${raw} is outside ${doc.min} to ${doc.max}`);
    } catch (error) {
      if (!isServiceError(error, 'invalid')) throw error;
      return fail(`${error.message}; ${error.hint ?? ''}`);
    }
  });
  return documented(field, doc, {
    type: ['string', 'number'],
    pattern: orReference('^\\d+(\\.\\d+)?\\s*[a-zA-Z]*$'),
    'x-unit': kind.type,
    'x-min': doc.min,
    'x-max': doc.max,
  });
}

function failWith(context: z.RefinementCtx): Issue {
  return (message) => {
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  };
}

function orReference(pattern: string): string {
  return `(${pattern})|${reference}`;
}

function documented<T>(field: z.ZodType<T>, doc: FieldDoc<unknown>, extra: Readonly<Record<string, unknown>>): z.ZodType<T> {
  const known = Object.fromEntries(Object.entries(extra).filter(([, value]) => value !== undefined));
  if (doc.default === undefined) return field.meta({ description: doc.description, ...known });
  return field.prefault(doc.default).meta({ description: doc.description, default: doc.default, ...known });
}
