/** A client's connection, as the broker sees it. */
export interface ClientLink {
  readonly clientId: string;
  /** `isolated`: requests and answers get lost until it heals; `crashed`: for good. */
  state: 'up' | 'isolated' | 'crashed';
}
