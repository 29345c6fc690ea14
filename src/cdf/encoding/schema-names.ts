import { serviceError } from '../../base/errors.ts';

/** A name as Avro and Protobuf have it, by the rule of Debezium's `avro` adjustment: what they do not take becomes `_`. */
export function adjustedName(name: string): string {
  const adjusted = name.replace(/[^A-Za-z0-9_]/gu, '_');
  return /^[0-9]/.test(adjusted) || adjusted === '' ? `_${adjusted}` : adjusted;
}

/** A dotted name, each of its parts adjusted. */
export function adjustedFullName(name: string): string {
  return name.split('.').map(adjustedName).join('.');
}

/** The name, with as many `_` behind it as make it none of those that are taken. */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  return taken.has(name) ? freeName(`${name}_`, taken) : name;
}

/**
 * The adjusted names of fields, in order.
 *
 * @throws ServiceError `CDF_NAMES_COLLIDE` (kind unsupported) where two are the same.
 */
export function adjustedNames(names: readonly string[], comparable: (name: string) => string = (name) => name): readonly string[] {
  const seen = new Map<string, string>();
  return names.map((name) => {
    const adjusted = adjustedName(name);
    const other = seen.get(comparable(adjusted));
    if (other !== undefined) {
      throw serviceError.unsupported(
        'CDF_NAMES_COLLIDE',
        `columns "${other}" and "${name}" are both "${adjusted}" in the feed's encoding`,
        {
          hint: 'rename one of the columns, leave it out with "select", or publish the feed as JSON',
        },
      );
    }
    seen.set(comparable(adjusted), name);
    return adjusted;
  });
}
