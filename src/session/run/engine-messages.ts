/** What the engine says of values that do not fit, as the dialect's users know it. The first rule that fits decides. */
export interface MessageRule {
  readonly pattern: RegExp;
  readonly errorClass: string;
  readonly message: (found: readonly (string | undefined)[]) => string;
}

export const messageRules: readonly MessageRule[] = [
  {
    pattern: /More than one row returned by a subquery used as an expression/,
    errorClass: 'SCALAR_SUBQUERY_TOO_MANY_ROWS',
    message: () => 'More than one row returned by a subquery used as an expression.',
  },
  {
    pattern:
      /^(?:conversion: |invalid input: )Could not (?:convert string|cast string|parse string) (['"][^]*?['"]) (?:to|according to)(?: format specifier)? ([^\n]*)/,
    errorClass: 'CAST_INVALID_INPUT',
    message: ([, value, target]) => `The value ${value ?? ''} of the type "STRING" does not have the form of ${target ?? 'its target'}.`,
  },
  {
    pattern:
      /^conversion: (?:invalid|Invalid) (?:date|timestamp|time)[^:]*: ("[^]*?"|[^\n]*)|^conversion: (?:date|timestamp|time) field value out of range: ("[^]*?")/,
    errorClass: 'CAST_INVALID_INPUT',
    message: ([, one, other]) => `The value ${one ?? other ?? ''} of the type "STRING" is no date or time.`,
  },
  {
    pattern: /^conversion: (?:Could not cast value|Casting value) "?([^ "]+)"? to (?:type )?(DECIMAL\([^)]*\))/,
    errorClass: 'NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION',
    message: ([, value, type]) => `${value ?? 'a value'} cannot be represented as ${type ?? 'the type'}.`,
  },
  {
    pattern: /^conversion: Type INT128 with value (\S+) can't be cast/,
    errorClass: 'ARITHMETIC_OVERFLOW',
    message: ([, value]) => `${value ?? 'the result'} is beyond the type of the result.`,
  },
  {
    pattern:
      /^conversion: Type (\w+) with value (\S+) can't be cast (?:to the destination type|because the value is out of range for the destination type) (\w+)/,
    errorClass: 'CAST_OVERFLOW',
    message: ([, , value, type]) => `The value ${value ?? ''} cannot be cast to ${type ?? 'its target'} due to an overflow.`,
  },
  {
    pattern: /Unknown TimeZone '([^']*)'/,
    errorClass: 'INVALID_TIMEZONE',
    message: ([, zone]) => `The timezone: ${zone ?? ''} is invalid. The timezone must be either a region-based zone ID or a zone offset.`,
  },
  {
    pattern: /^invalid input: Map keys must be unique/,
    errorClass: 'DUPLICATED_MAP_KEY',
    message: () => 'a key of a map occurs twice',
  },
  {
    pattern: /^invalid input: Map keys can not be NULL/,
    errorClass: 'NULL_MAP_KEY',
    message: () => 'Cannot use null as map key.',
  },
  {
    pattern: /^invalid input: ((?:missing|unexpected|no argument|bad|invalid|trailing)[^:\n]*): ([^\n]*)/,
    errorClass: 'INVALID_PARAMETER_VALUE.PATTERN',
    message: ([, reason, part]) => `The regular expression is not one: ${reason ?? ''} in '${part ?? ''}'.`,
  },
  {
    pattern: /^out of range: (?:Overflow|[^\n]*(?:overflow|out of range for type))|^conversion: [^\n]*out of range/i,
    errorClass: 'ARITHMETIC_OVERFLOW',
    message: () => 'a result is beyond the range of its type; the try_ form of the function gives NULL instead',
  },
];
