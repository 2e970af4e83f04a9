import type { Tables } from './tables.js';
import type { Transaction } from './transaction.js';

export interface StatementAnswer {
  readonly rows: readonly object[];
  readonly rowCount: number;
}

export interface Context {
  readonly tables: Tables;
  readonly tx: Transaction;
  /** The server's time. */
  readonly now: string;
}

/** The effect of one of the product's statements. It is found by its name or, without one, by the beginning of its text. */
export interface Statement {
  /** The locks that it waits for and holds until its transaction ends. */
  locks?(values: readonly unknown[]): readonly string[];
  run(context: Context, values: readonly unknown[]): StatementAnswer;
}

export type Statements = Readonly<Record<string, Statement>>;

export function rowsOf(rows: readonly object[]): StatementAnswer {
  return { rows, rowCount: rows.length };
}

export function changed(rowCount: number): StatementAnswer {
  return { rows: [], rowCount };
}

const HEADER_BYTES = 20;
const TEXT = 25;
const BIGINT = 20;

/** The elements of an array, in the server's binary format or plain. */
export function elements(value: unknown): readonly (string | null)[] {
  if (!Buffer.isBuffer(value)) return (value as readonly (string | number)[]).map(String);
  const type = value.readInt32BE(8);
  const count = value.readInt32BE(12);
  const items: (string | null)[] = [];
  let at = HEADER_BYTES;
  for (let left = count; left > 0; left -= 1) {
    const length = value.readInt32BE(at);
    at += 4;
    items.push(length < 0 ? null : textOf(value.subarray(at, at + length), type));
    at += Math.max(0, length);
  }
  return items;
}

function textOf(bytes: Buffer, type: number): string {
  if (type === TEXT) return bytes.toString('utf8');
  return type === BIGINT ? String(bytes.readBigInt64BE(0)) : bytes.toString('hex');
}

/** An array for each row, with the n-th element of each column. */
export function rowsFrom(...columns: readonly unknown[]): (string | null)[][] {
  const read = columns.map(elements);
  return (read[0] ?? []).map((_, index) => read.map((column) => column[index] ?? null));
}

export function required(value: string | null | undefined): string {
  if (value === null || value === undefined) throw new Error('a column that is not null is null');
  return value;
}
