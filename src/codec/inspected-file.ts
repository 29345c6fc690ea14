/** A file of which ranges can be fetched. */
export interface InspectedFile {
  /** For messages. */
  readonly name: string;
  readonly sizeBytes: number;
  readonly read: (range: { readonly from: number; readonly until: number }) => Promise<Uint8Array>;
}
