import type { Pool } from 'pg';

export interface RefusedLine {
  readonly line: number;
  readonly reason: string;
}

/** How far a file of recorded events is read, as operators see it. */
export interface RecordedFileProgress {
  readonly file: string;
  readonly bytes: number;
  readonly read_bytes: number;
  readonly lines: number;
  readonly applied_lines: number;
  readonly refused_count: number;
  /** The last of them alone. */
  readonly refused: readonly RefusedLine[];
}

export class RecordedFileReader {
  constructor(private readonly pool: Pool) {}

  /** In the order in which they are read. */
  async all(): Promise<readonly RecordedFileProgress[]> {
    const { rows } = await this.pool.query<RecordedFileProgress>(
      'select file, bytes, read_bytes, lines, applied_lines, refused_count, refused from data.recorded_files order by file',
    );
    return rows;
  }
}
