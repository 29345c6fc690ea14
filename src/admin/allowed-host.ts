import { isIP } from 'node:net';

/** Which names of this server a request may be for. */
export interface HostSettings {
  /** What the server listens on. */
  readonly host: string;
  /** Further names. Empty, and listening for other hosts: any. */
  readonly allowedHosts: readonly string[];
}

/**
 * Whether a request with this `Host` header is meant for this server. A page of another site can let its own name point here and then read
 * the answers (DNS rebinding); it cannot do so with an address or with a loopback name. Who listens for other hosts is known by names that
 * only the network knows, such as that of a Kubernetes service: those are checked where they are listed.
 */
export function isAllowedHost(header: string | undefined, { host, allowedHosts }: HostSettings): boolean {
  // HTTP/1.0 has none; no browser speaks it.
  if (header === undefined) return true;
  if (allowedHosts.length === 0 && !isLoopback(host)) return true;
  const name = nameIn(header);
  return isIP(name) !== 0 || name === 'localhost' || [host, ...allowedHosts].some((known) => known.toLowerCase() === name);
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** Without the port, the brackets of an address, and the dot of a complete name. */
function nameIn(header: string): string {
  const name = /^\[([^\]]*)\](?::\d*)?$/.exec(header)?.[1] ?? header.replace(/:\d*$/, '');
  return name.toLowerCase().replace(/\.$/, '');
}
