/** C0 but line feeds and tabs, DEL, C1, and what changes the direction of the text around it. */
const commands = /[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;
const commandsAndLines = /\p{Cc}|[\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/**
 * A text for a person's terminal: data must not command it, nor change the order of what stands beside it. Such characters are shown as
 * escapes, which JSON reads as the same text.
 */
export function printable(text: string): string {
  return text.replaceAll(commands, escapeOf);
}

/** The same for what must stay in its line. */
export function printableLine(text: string): string {
  return text.replaceAll(commandsAndLines, escapeOf);
}

function escapeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
