import { createHash } from 'node:crypto';

/** The cell of a user: the first eight bytes of the id's hash, as a number, modulo the number of cells. */
export function cellOf(user_id: string, cells: number): number {
  const first = createHash('sha256').update(user_id).digest().readBigUInt64BE(0);
  return Number(first % BigInt(cells));
}

/** `CELL_URLS` must have one address for each cell, in the order of cells. */
export function cellUrlsAreOnePerCell({
  CELL_URLS: urls,
  CELLS: cells,
}: {
  readonly CELL_URLS: readonly string[];
  readonly CELLS: number;
}): string | undefined {
  if (urls.length !== cells) return `CELL_URLS is wrong: it has ${urls.length} addresses for ${cells} cells`;
  const addresses = urls.map((url) => new URL(url).host);
  const twice = addresses.find((address, cell) => addresses.indexOf(address) !== cell);
  return twice === undefined ? undefined : `CELL_URLS is wrong: ${twice} stands for two cells`;
}
