import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';

/** That of the whole folder; one that is not known is not read. */
export const FORMAT = 1;
const FILE = 'manifest.json';

const tableSchema = z.object({
  name: z.string().regex(/^[a-z_]+\.[a-z_]+$/),
  rows: z.number().int().min(0),
  /** Of what the file holds when it is unpacked. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

const manifestSchema = z.object({
  format: z.literal(FORMAT, { error: 'it is of a version that this one does not know' }),
  taken_at: z.string(),
  server_version: z.string(),
  /** Those that had run, in their order: rows are of the tables as these had made them. */
  migrations: z.array(z.string()).min(1),
  /** In an order in which no row refers to one that comes later. */
  tables: z.array(tableSchema),
  sequences: z.array(z.object({ name: z.string(), last_value: z.string().regex(/^\d+$/) })),
});

export type Manifest = z.output<typeof manifestSchema>;
export type TableFile = Manifest['tables'][number];

/** A backup that is not, or not any more, what was written. */
export class BackupDamaged extends Error {
  override readonly name = 'BackupDamaged';
}

export function manifestPath(folder: string): string {
  return path.join(folder, FILE);
}

export function tablePath(folder: string, table: string): string {
  return path.join(folder, `${table}.rows.gz`);
}

export async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(manifestPath(folder), 'utf8').catch((error: unknown) => {
    throw new BackupDamaged(`${folder} holds no backup`, { cause: error });
  });
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch (error) {
    throw new BackupDamaged(`${manifestPath(folder)} is no JSON`, { cause: error });
  }
  const parsed = manifestSchema.safeParse(found);
  if (parsed.success) return parsed.data;
  throw new BackupDamaged(`${manifestPath(folder)}: ${parsed.error.issues[0]?.message ?? 'unreadable'}`);
}
