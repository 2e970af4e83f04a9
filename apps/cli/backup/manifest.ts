import { createHash } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { asFileFault, EXIT, StartFault } from '#libs/platform/process/start-fault.js';

/** The format of the whole folder. Unknown formats are refused. */
export const FORMAT = 2;
const FILE = 'manifest.json';
const ROWS = '.rows.gz';

const tableSchema = z.object({
  name: z.string().regex(/^[a-z_]+\.[a-z_]+$/),
  rows: z.number().int().min(0),
  /** Hash of the unpacked content. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

const manifestSchema = z.object({
  format: z.literal(FORMAT, { error: 'its format is unknown to this version' }),
  taken_at: z.string(),
  server_version: z.string(),
  /** The migrations that had run, in order. The rows have the form that these give the tables. */
  migrations: z.array(z.string()).min(1),
  /** Ordered so that no row refers to a later table. */
  tables: z.array(tableSchema),
  sequences: z.array(z.object({ name: z.string(), last_value: z.string().regex(/^\d+$/) })),
});

/** Keeps fields that this version does not know. */
const hashedSchema = z.looseObject({ sha256: z.unknown().optional() });

export type Manifest = z.output<typeof manifestSchema>;
export type TableFile = Manifest['tables'][number];

/** The backup is not, or no longer, what was written. */
export class BackupDamaged extends Error {
  override readonly name = 'BackupDamaged';
}

export function tablePath(folder: string, table: string): string {
  return path.join(folder, `${table}${ROWS}`);
}

/**
 * What file systems and tools leave in a folder, such as `lost+found`, `.nfs...` and `.snapshot`. Never read.
 */
const OF_FILE_SYSTEMS = /^(?:lost\+found|\..*)$/;

/** Other files in the folder of a backup. */
export function unnamedAmong(files: readonly string[], { tables }: Manifest): string[] {
  const named = new Set([FILE, ...tables.map(({ name }) => `${name}${ROWS}`)]);
  return files.filter((file) => !named.has(file) && !OF_FILE_SYSTEMS.test(file));
}

export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const file = path.join(folder, FILE);
  const text = JSON.stringify({ ...manifest, sha256: hashOf(manifest) }, undefined, 2);
  try {
    await writeFile(file, `${text}\n`, { flush: true });
  } catch (error) {
    throw asFileFault(error, file) ?? error;
  }
}

/** Refuses pipes: reading one would block for ever. */
export async function refuseUnlessFile(file: string): Promise<void> {
  const found = await stat(file).catch(() => undefined);
  if (found !== undefined && !found.isFile()) throw new BackupDamaged(`${file} is not a file`);
}

export async function readManifest(folder: string): Promise<Manifest> {
  const file = path.join(folder, FILE);
  await refuseUnlessFile(file);
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new BackupDamaged(`${folder} holds no backup`, { cause: error });
  });
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch (error) {
    throw new BackupDamaged(`${file} is not JSON`, { cause: error });
  }
  const parsed = manifestSchema.safeParse(found);
  if (!parsed.success) throw new BackupDamaged(`${file}: ${parsed.error.issues[0]?.message ?? 'unreadable'}`);
  refuseChanged(found, file);
  return parsed.data;
}

/** The manifest of a backup whose rows are already in a database. */
export function manifestNoted(noted: unknown): Manifest {
  const parsed = manifestSchema.safeParse(noted);
  if (parsed.success) return parsed.data;
  throw new StartFault('the rows in the database come from a backup of a later version', EXIT.config);
}

function refuseChanged(found: unknown, file: string): void {
  const { sha256, ...rest } = hashedSchema.parse(found);
  if (sha256 !== hashOf(rest)) throw new BackupDamaged(`${file} is not what was written`);
}

/** Hash of the content in its own key order, independent of white space. */
function hashOf(manifest: object): string {
  return createHash('sha256').update(JSON.stringify(manifest)).digest('hex');
}
