import { parseDateText, parseInstantText, parseTimestampText } from '../../expr/parse/temporal-text.ts';
import type { ZoneRule } from '../../expr/time-zone.ts';

const wholeDate = /^\s*[+-]?\d{4,6}-\d{1,2}-\d{1,2}\s*$/;
const beyondMicroseconds = /\.\d{6}0*[1-9]/;

/** Days since 1970-01-01 of `yyyy-MM-dd`; `undefined` for other text, a time of day included. */
export function daysOfText(text: string): number | undefined {
  return wholeDate.test(text) ? parseDateText(text) : undefined;
}

/**
 * Microseconds since 1970-01-01 of `yyyy-MM-dd[( |T)HH:mm[:ss[.ffffff]]][zone]`; without a zone it is of `zone`. `undefined` for text that is no
 * time, that has digits past microseconds, or a zone where none is allowed.
 */
export function microsOfText(text: string, options: { readonly zoneAllowed: boolean; readonly zone?: ZoneRule }): bigint | undefined {
  if (beyondMicroseconds.test(text) || (!options.zoneAllowed && parseTimestampText(text)?.zoned === true)) return undefined;
  return parseInstantText(text, options.zone);
}
