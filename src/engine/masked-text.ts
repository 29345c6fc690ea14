/** Whether the digits have the check sum of Luhn. */
export function luhnChecks(text: string): boolean {
  if (!/^\d+$/.test(text)) return false;
  const sum = Array.from(text)
    .toReversed()
    .map(Number)
    .reduce((total, digit, index) => total + (index % 2 === 0 ? digit : digit > 4 ? 2 * digit - 9 : 2 * digit), 0);
  return sum % 10 === 0;
}

/** The text with another character in the place of each of Java's characters; '' leaves the kind as it is. Kinds in order: upper, lower, digit, other. */
export function masked(text: string, [upper = '', lower = '', digit = '', other = '']: readonly string[]): string {
  const units = Array.from({ length: text.length }, (_, index) => text.charAt(index));
  const replaced = units.map((character) => {
    const by = /\p{Lu}/u.test(character) ? upper : /\p{Ll}/u.test(character) ? lower : /\p{Nd}/u.test(character) ? digit : other;
    return by === '' ? character : by;
  });
  return replaced.join('');
}
