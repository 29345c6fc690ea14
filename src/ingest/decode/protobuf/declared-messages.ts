import protobuf from 'protobufjs';

/** A message of a file, in the order in which the file has it. */
export interface Declared {
  readonly name: string;
  /** Made for a map field; a file does not spell it out. */
  readonly isMapEntry: boolean;
  readonly nested: readonly Declared[];
}

interface Level extends Declared {
  readonly nested: Declared[];
}

/**
 * The messages of a file's text with those inside of them, maps' entries where their fields stand, as descriptors count them: which message a
 * payload holds is told by such numbers, and the parsed schema does not keep the order.
 */
export function declaredMessages(text: string): readonly Declared[] {
  const file: Level = { name: '', isMapEntry: false, nested: [] };
  readLevel(protobuf.tokenize(text, false), file, false);
  return file.nested;
}

type Tokens = ReturnType<typeof protobuf.tokenize>;

/** Reads declarations up to the brace that closes the level. */
function readLevel(tokens: Tokens, level: Level, inMessage: boolean): void {
  for (let token = tokens.next(); token !== null && token !== '}'; token = tokens.next()) {
    if (token === ';') continue;
    const next = tokens.peek();
    if (token === 'message' && next !== null && !isTypeEnd(next)) {
      const message: Level = { name: tokens.next() ?? '', isMapEntry: false, nested: [] };
      level.nested.push(message);
      tokens.skip('{');
      readLevel(tokens, message, true);
    } else if (token === 'oneof' && inMessage) {
      tokens.next();
      tokens.skip('{');
      readLevel(tokens, level, true);
    } else if (token === 'map' && next === '<' && inMessage) {
      level.nested.push({ name: '', isMapEntry: true, nested: [] });
      skipStatement(tokens);
    } else skipStatement(tokens, level);
  }
}

/** A field of a type that is called like a keyword goes on otherwise. */
function isTypeEnd(token: string): boolean {
  return token === '=' || token === ';';
}

/** Goes behind a statement: to its semicolon, or to the end of its block. A group is a message too. */
function skipStatement(tokens: Tokens, level?: Level): void {
  let group: string | undefined;
  let depth = 0;
  for (let token = tokens.next(); token !== null; token = tokens.next()) {
    if (token === 'group' && depth === 0 && level !== undefined) group = tokens.peek() ?? undefined;
    if (token === '{' && depth === 0 && group !== undefined && level !== undefined) {
      const message: Level = { name: group, isMapEntry: false, nested: [] };
      level.nested.push(message);
      readLevel(tokens, message, true);
      return;
    }
    if (token === '{' || token === '[') depth += 1;
    if (token === '}' || token === ']') depth -= 1;
    if (depth === 0 && (token === ';' || token === '}')) return;
  }
}

/**
 * The name of the message that the numbers lead to, from the outermost. Some serializers count the entries of maps, some do not: numbers that
 * lead to two messages say neither.
 *
 * @returns a text that says why there is none, with `name` absent.
 */
export function messageAt(
  messages: readonly Declared[],
  indexes: readonly number[],
): { readonly name: string } | { readonly fault: string } {
  const counted = follow(messages, indexes, true);
  const uncounted = follow(messages, indexes, false);
  const found = counted ?? uncounted;
  if (found === undefined) return { fault: `the schema has no message [${indexes.join(', ')}]` };
  return counted === undefined || uncounted === undefined || counted === uncounted
    ? { name: found }
    : { fault: `[${indexes.join(', ')}] is "${counted}" or "${uncounted}", as one counts: name the message of the route` };
}

/** `undefined` where there is none; what a map's entry is, no payload is. */
function follow(messages: readonly Declared[], indexes: readonly number[], countEntries: boolean): string | undefined {
  const names: string[] = [];
  let level = messages;
  for (const index of indexes) {
    const found = (countEntries ? level : level.filter(({ isMapEntry }) => !isMapEntry))[index];
    if (found === undefined || found.isMapEntry) return undefined;
    names.push(found.name);
    level = found.nested;
  }
  return names.join('.');
}
