import type { Pool } from 'pg';

export interface RefusedLine {
  /** Counted from 1. */
  readonly line: number;
  readonly reason: string;
}

/** How far a recorded file is read. Everything before `readBytes` is in the journals. */
export interface RecordedFile {
  readonly file: string;
  readonly bytes: number;
  readonly readBytes: number;
  readonly lines: number;
  /** Lines that are projected, already known, waiting for their market, or refused. */
  readonly appliedLines: number;
  readonly refusedCount: number;
  /** The newest refused lines. */
  readonly refused: readonly RefusedLine[];
}

interface RecordedRow {
  readonly file: string;
  readonly bytes: number;
  readonly read_bytes: number;
  readonly lines: number;
  readonly applied_lines: number;
  readonly refused_count: number;
  readonly refused: readonly RefusedLine[];
}

export class RecordedTable {
  constructor(private readonly pool: Pool) {}

  async all(): Promise<RecordedFile[]> {
    const { rows } = await this.pool.query<RecordedRow>('select * from data.recorded_files order by file');
    return rows.map(({ file, bytes, lines, refused, ...row }) => ({
      ...{ file, bytes, lines, refused },
      ...{ readBytes: row.read_bytes, appliedLines: row.applied_lines, refusedCount: row.refused_count },
    }));
  }

  async write(files: readonly RecordedFile[]): Promise<void> {
    if (files.length === 0) return;
    await this.pool.query({
      name: 'data-recorded-files',
      text: `
        insert into data.recorded_files (file, bytes, read_bytes, lines, applied_lines, refused_count, refused)
        select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::jsonb[])
        on conflict (file) do update set bytes = excluded.bytes, read_bytes = excluded.read_bytes, lines = excluded.lines,
          applied_lines = excluded.applied_lines, refused_count = excluded.refused_count, refused = excluded.refused`,
      values: [
        ...[files.map(({ file }) => file), files.map(({ bytes }) => bytes)],
        ...[files.map(({ readBytes }) => readBytes), files.map(({ lines }) => lines)],
        ...[files.map(({ appliedLines }) => appliedLines), files.map(({ refusedCount }) => refusedCount)],
        files.map(({ refused }) => JSON.stringify(refused)),
      ],
    });
  }
}
