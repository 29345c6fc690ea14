/** As Java's `URLEncoder`: a blank is a plus. */
export function urlEncoded(text: string): string {
  return encodeURIComponent(text)
    .replaceAll(/[!~'()]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');
}

/** `undefined` for a percent sign that begins no byte. */
export function urlDecoded(text: string): string | undefined {
  if (/%(?![0-9a-f]{2})/i.test(text)) return undefined;
  return text.replaceAll('+', ' ').replaceAll(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'));
}

/** A part of an address by the names of `parse_url`; with a key, its value in the query. */
export function urlPart(url: string, part: string, key?: string): string | undefined {
  const found = /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#([^]*))?$/.exec(url);
  if (found === null || /[\s<>"{}|\\^`]/.test(url)) return undefined;
  const [, protocol, authority, path = '', query, reference] = found;
  const [, user, host] = /^(?:([^@]*)@)?(\[[^\]]*\]|[^:]*)(?::\d*)?$/.exec(authority ?? '') ?? [];
  switch (part) {
    case 'HOST':
      return host === '' ? undefined : host;
    case 'PATH':
      return path;
    case 'QUERY':
      return key === undefined
        ? query
        : query
            ?.split('&')
            .find((each) => each.startsWith(`${key}=`))
            ?.slice(key.length + 1);
    case 'REF':
      return reference;
    case 'PROTOCOL':
      return protocol;
    case 'FILE':
      return query === undefined ? path : `${path}?${query}`;
    case 'AUTHORITY':
      return authority;
    case 'USERINFO':
      return user;
    default:
      return undefined;
  }
}
