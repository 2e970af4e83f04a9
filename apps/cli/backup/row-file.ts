import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { asFileFault } from '#libs/platform/process/start-fault.js';
import { BackupDamaged, refuseUnlessFile, tablePath, type TableFile } from './manifest.js';

/**
 * Writes a table as a file with one JSON string a row: the row as PostgreSQL prints it (`(1,event,"...")`).
 * The database reads and writes every type itself, so nothing is lost.
 */
export async function writeRows(
  folder: string,
  table: string,
  pages: AsyncIterable<readonly string[]>,
): Promise<TableFile> {
  const hash = createHash('sha256');
  let rows = 0;
  async function* lines(): AsyncGenerator<string> {
    for await (const page of pages) {
      const text = page.map((row) => `${JSON.stringify(row)}\n`).join('');
      hash.update(text);
      rows += page.length;
      if (text !== '') yield text;
    }
  }
  const file = tablePath(folder, table);
  try {
    await pipeline(Readable.from(lines()), createGzip(), createWriteStream(file, { flush: true }));
  } catch (error) {
    throw asFileFault(error, file) ?? error;
  }
  return { name: table, rows, sha256: hash.digest('hex') };
}

/**
 * Yields pages of at most `size` rows. Throws at the end, if not before, when they are not what was written.
 */
export async function* readRows(folder: string, file: TableFile, size: number): AsyncGenerator<string[]> {
  const hash = createHash('sha256');
  let rows = 0;
  let page: string[] = [];
  for await (const line of linesOf(folder, file.name)) {
    hash.update(`${line}\n`);
    rows += 1;
    page.push(rowIn(line, file.name));
    if (page.length < size) continue;
    yield page;
    page = [];
  }
  if (rows !== file.rows || hash.digest('hex') !== file.sha256) {
    throw new BackupDamaged(`${tablePath(folder, file.name)} is not what was written`);
  }
  if (page.length > 0) yield page;
}

/**
 * Splits at line feeds only. Node's readline also splits at U+2028 and U+2029, which JSON strings may hold.
 */
async function* linesOf(folder: string, table: string): AsyncGenerator<string> {
  await refuseUnlessFile(tablePath(folder, table));
  const source = createReadStream(tablePath(folder, table));
  const unpacked = createGunzip();
  source.on('error', (error) => unpacked.destroy(error));
  source.pipe(unpacked).setEncoding('utf8');
  let rest = '';
  try {
    for await (const text of unpacked as AsyncIterable<string>) {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
  } catch (error) {
    throw new BackupDamaged(`${tablePath(folder, table)} cannot be read`, { cause: error });
  }
  if (rest !== '') yield rest;
}

function rowIn(line: string, table: string): string {
  try {
    const row: unknown = JSON.parse(line);
    if (typeof row === 'string') return row;
  } catch {
    // Reported below, like any other line that is no row.
  }
  throw new BackupDamaged(`a line of ${table} is not a row`);
}
