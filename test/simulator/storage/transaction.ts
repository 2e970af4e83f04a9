import { DatabaseFault } from './database-fault.js';
import type { Table } from './tables.js';

/** What a transaction has written of one table; undefined for what it has deleted. */
type Overlay = Map<string, unknown>;

/** Sees what is committed and what it has written itself; everybody else sees that when it commits, or never. */
export class Transaction {
  /** When the last of its statements was carried out. */
  workedAt = '';
  private readonly overlays = new Map<Table<unknown>, Overlay>();
  private readonly seen = new Map<Table<unknown>, Map<string, number>>();
  private readonly changes: ((number: number) => void)[] = [];

  get hasWritten(): boolean {
    return this.overlays.size + this.changes.length > 0;
  }

  get<Row>(table: Table<Row>, key: string): Row | undefined {
    const seen = this.seen.get(table) ?? new Map<string, number>();
    this.seen.set(table, seen);
    if (!seen.has(key)) seen.set(key, table.versions.get(key) ?? 0);
    const overlay = this.overlays.get(table);
    if (overlay?.has(key) === true) return overlay.get(key) as Row | undefined;
    return table.rows.get(key);
  }

  put<Row>(table: Table<Row>, key: string, row: Row | undefined): void {
    const overlay = this.overlays.get(table) ?? new Map<string, unknown>();
    this.overlays.set(table, overlay);
    overlay.set(key, row);
  }

  /** As an update holds its row until the end: nobody's change of it comes in between, and it is seen by nobody before. */
  change<Row>(table: Table<Row>, key: string, how: (row: Row | undefined) => Row): void {
    this.changes.push((number) => {
      table.rows.set(key, how(table.rows.get(key)));
      table.versions.set(key, number);
    });
  }

  *all<Row>(table: Table<Row>): Generator<readonly [string, Row]> {
    const overlay = this.overlays.get(table);
    for (const [key, row] of table.rows) if (overlay?.has(key) !== true) yield [key, row];
    for (const [key, row] of overlay ?? []) if (row !== undefined) yield [key, row as Row];
  }

  /** `isSerializable`: only if nobody has changed meanwhile what it has looked at. */
  commit(number: number, isSerializable: boolean): void {
    if (isSerializable) this.checkReads();
    for (const [table, overlay] of this.overlays) {
      for (const [key, row] of overlay) {
        if (row === undefined) table.rows.delete(key);
        else table.rows.set(key, row);
        table.versions.set(key, number);
      }
    }
    for (const change of this.changes) change(number);
  }

  private checkReads(): void {
    for (const [table, seen] of this.seen) {
      for (const [key, version] of seen) {
        if ((table.versions.get(key) ?? 0) !== version)
          throw new DatabaseFault('40001', 'could not serialize access');
      }
    }
  }
}
