import type { TableMetadata } from '../metadata/table-metadata.ts';

/** Property that says where metadata files go, when not below the table's location. */
export const metadataPathProperty: string = 'write.metadata.path';

const codecProperty = 'write.metadata.compression-codec';
const numberDigits = 5;
const versioned = /^v(\d{1,10})\.(?:gz\.metadata\.json|metadata\.json(?:\.gz)?)$/;
const numbered = /^(\d{1,10})-.+\.metadata\.json(?:\.gz)?$/;

/** The last part of a location. */
export function fileNameOf(location: string): string {
  return location.slice(location.lastIndexOf('/') + 1);
}

export function withoutTrailingSlash(location: string): string {
  return location.length > 1 ? location.replace(/\/+$/, '') : location;
}

/** Version in the name of a file-system table's metadata file (`v3.metadata.json`); `undefined` for other names. */
export function versionIn(fileName: string): number | undefined {
  const digits = versioned.exec(fileName)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Number in the name of a catalog table's metadata file (`00003-….metadata.json`); `undefined` for other names. */
export function numberIn(fileName: string): number | undefined {
  const digits = numbered.exec(fileName)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Whether a location is that of one metadata file, not of a table. */
export function isMetadataFile(location: string): boolean {
  return /\.metadata\.json(\.gz)?$/.test(location);
}

/** The names a version of a file-system table may have; readers look for all of them. */
export function versionNames(version: number): readonly string[] {
  return [`v${version}.metadata.json`, `v${version}.gz.metadata.json`, `v${version}.metadata.json.gz`];
}

export type MetadataCodec = 'none' | 'gzip';

/** How metadata files are to be written: `write.metadata.compression-codec`. */
export function metadataCodec(properties: Readonly<Record<string, string>>, otherwise: MetadataCodec = 'none'): MetadataCodec {
  return (properties[codecProperty]?.toLowerCase() ?? otherwise) === 'gzip' ? 'gzip' : 'none';
}

export function versionName(version: number, codec: MetadataCodec): string {
  return `v${version}${extensionOf(codec)}`;
}

type Placed = Pick<TableMetadata, 'location' | 'properties'>;

/** Where the metadata file after `baseLocation` goes, for tables and views whose pointer is in a catalog. */
export function numberedLocation(
  metadata: Placed,
  baseLocation: string | undefined,
  uuid: string,
  codec: MetadataCodec = metadataCodec(metadata.properties),
): string {
  const number = baseLocation === undefined ? 0 : (numberIn(fileNameOf(baseLocation)) ?? -1) + 1;
  const digits = String(number).padStart(numberDigits, '0');
  return `${metadataFolder(metadata)}/${digits}-${uuid}${extensionOf(codec)}`;
}

function metadataFolder(metadata: Placed): string {
  return withoutTrailingSlash(metadata.properties[metadataPathProperty] ?? `${withoutTrailingSlash(metadata.location)}/metadata`);
}

function extensionOf(codec: MetadataCodec): string {
  return codec === 'gzip' ? '.gz.metadata.json' : '.metadata.json';
}
