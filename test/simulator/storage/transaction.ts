import { DatabaseFault } from './database-fault.js';
import type { Table } from './tables.js';

/** What a transaction has written to one table; undefined for deleted rows. */
type Overlay = Map<string, unknown>;

/** Sees committed rows and its own writes. Other transactions see its writes only after it commits. */
export class Transaction {
  /** When its last statement was executed. */
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

  /**
   * Like an update, holds the row until the end: no other transaction changes it in between or sees it before
   * the commit.
   */
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

  /** `isSerializable`: fails if another transaction has changed rows that this one read. */
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
