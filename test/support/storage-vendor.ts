import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { S3Server } from './s3-server.ts';
import { VendingCatalog } from './vending-catalog.ts';

/** An account goes on so long after another is handed out: whoever has just got it does not ask again at once. */
const usualGraceMs = 300;

/**
 * A REST catalog that hands out accounts of an object store, one at a time: an old one is removed when another takes its place, so that it is
 * refused wherever it is still in use.
 */
export class StorageVendor {
  readonly catalog: VendingCatalog;
  readonly #store: S3Server;
  #account: string | undefined;

  private constructor(catalog: VendingCatalog, store: S3Server) {
    this.catalog = catalog;
    this.#store = store;
  }

  /** @param uri of the catalog that is behind it. */
  static async start(uri: string, store: S3Server): Promise<StorageVendor> {
    const vendor = new StorageVendor(await VendingCatalog.start(uri), store);
    await vendor.rotate();
    return vendor;
  }

  /** What is handed out. */
  get vended(): Readonly<Record<string, string>> {
    return this.catalog.vended;
  }

  /** Another account is handed out from now on; the old one ends after `graceMs`. */
  async rotate(graceMs: number = usualGraceMs): Promise<void> {
    const [old, name] = [this.#account, `account-${randomUUID().slice(0, 8)}`];
    const account = await this.#store.addAccount(name);
    const { 's3.endpoint': endpoint = '', 's3.region': region = '' } = this.#store.properties();
    this.#account = name;
    this.catalog.vended = { 's3.endpoint': endpoint, 's3.path-style-access': 'true', 'client.region': region, ...account };
    if (old === undefined) return;
    await sleep(graceMs);
    await this.#store.removeAccount(old);
  }

  /** The account that is handed out ends, and there is no other. */
  async revoke(): Promise<void> {
    if (this.#account !== undefined) await this.#store.removeAccount(this.#account);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.catalog[Symbol.asyncDispose]();
  }
}
