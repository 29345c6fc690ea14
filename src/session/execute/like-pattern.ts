/** A test for SHOW … LIKE: `*` stands for anything, `|` separates alternatives, case does not count. Without a pattern everything passes. */
export function likePattern(pattern: string | undefined): (name: string) => boolean {
  if (pattern === undefined) return () => true;
  const alternatives = pattern.split('|').map((each) => {
    const literal = each
      .trim()
      .split('*')
      .map((part) => part.replace(/[.+?^${}()[\]\\]/g, '\\$&'));
    return new RegExp(`^${literal.join('.*')}$`, 'i');
  });
  return (name) => alternatives.some((alternative) => alternative.test(name));
}
