import type { RecordedFile, RefusedLine } from '../../store/recorded-table.js';
import type { LineRefusal } from '../read-event.js';
import { LineReader } from './line-reader.js';

const KEPT_REFUSALS = 20;

/** Consecutive lines of one file. Their events may go to several journals. */
export class TakenSlice {
  /** Lines that are projected, already known, waiting for their market, or refused. */
  applied = 0;
  refused: RefusedLine[] = [];
  refusedCount = 0;
  private pending = 0;

  constructor(
    private readonly file: FileProgress,
    /** The reader that its lines came from. */
    readonly reading: LineReader,
    readonly lines: number,
    /** The byte offset after its last line. */
    readonly end: number,
    private readonly firstLine: number,
  ) {}

  /** Whether some of its events would be lost if this process ended now. */
  get isUnsettled(): boolean {
    return this.pending > 0;
  }

  handOn(): void {
    this.pending += 1;
  }

  refuse(index: number, reason: LineRefusal): void {
    this.refused.push({ line: this.firstLine + index, reason });
    if (this.refused.length > KEPT_REFUSALS) this.refused.shift();
    this.refusedCount += 1;
    this.applied += 1;
  }

  /** Call it when this many of its events are durable. */
  settle(events: number): void {
    this.pending -= events;
    if (this.pending === 0) this.file.advance();
  }

  addApplied(events: number): void {
    if (!this.file.addApplied(this, events)) this.applied += events;
  }
}

/** How far one file is read, in memory and durably. */
export class FileProgress {
  private slices: TakenSlice[] = [];
  private reading: LineReader;
  private lineCount: number;
  private current: RecordedFile;
  private inode: number | undefined;
  /** Lines that an earlier process journaled and that were not yet applied. */
  private inherited: number;
  private hasChanged = false;

  constructor(file: string, before: RecordedFile | undefined) {
    this.current = before ?? emptyFile(file);
    this.reading = new LineReader(this.current.readBytes);
    this.lineCount = this.current.lines;
    this.inherited = this.current.lines - this.current.appliedLines;
  }

  get name(): string {
    return this.current.file;
  }

  get reader(): LineReader {
    return this.reading;
  }

  get state(): RecordedFile {
    return this.current;
  }

  /** A file that became shorter, or was replaced, is read again from the start. Events already known change nothing. */
  see({ size, ino }: { readonly size: number; readonly ino: number }): void {
    if (size < this.reading.offset || (this.inode !== undefined && this.inode !== ino)) this.begin();
    this.inode = ino;
    if (size !== this.current.bytes) this.change({ bytes: size });
  }

  take(lines: number, end: number): TakenSlice {
    const slice = new TakenSlice(this, this.reading, lines, end, this.lineCount + 1);
    this.lineCount += lines;
    this.slices.push(slice);
    return slice;
  }

  /** Moves the position past slices whose events are all durable. */
  advance(): void {
    for (let slice = this.slices[0]; slice !== undefined; slice = this.slices[0]) {
      if (slice.isUnsettled) return;
      this.slices.shift();
      const { lines, appliedLines, refusedCount, refused } = this.current;
      this.change({
        readBytes: slice.end,
        lines: lines + slice.lines,
        appliedLines: appliedLines + slice.applied,
        refusedCount: refusedCount + slice.refusedCount,
        refused: [...refused, ...slice.refused].slice(-KEPT_REFUSALS),
      });
    }
  }

  /** Returns false while the position is before the slice: the slice then counts its own applied lines. */
  addApplied(slice: TakenSlice, events: number): boolean {
    if (slice.reading !== this.reading) return true;
    if (slice.end > this.current.readBytes) return false;
    this.change({ appliedLines: this.current.appliedLines + events });
    return true;
  }

  /** Call it when everything that was in the journals at the start is applied. */
  applyInherited(): void {
    if (this.inherited === 0) return;
    this.change({ appliedLines: this.current.appliedLines + this.inherited });
    this.inherited = 0;
  }

  /** Whether the progress changed since the last call. */
  takeChange(): boolean {
    const { hasChanged } = this;
    this.hasChanged = false;
    return hasChanged;
  }

  markChanged(): void {
    this.hasChanged = true;
  }

  private begin(): void {
    this.slices = [];
    this.reading = new LineReader(0);
    this.lineCount = 0;
    this.inherited = 0;
    this.change(emptyFile(this.current.file));
  }

  private change(to: Partial<RecordedFile>): void {
    this.current = { ...this.current, ...to };
    this.hasChanged = true;
  }
}

function emptyFile(file: string): RecordedFile {
  return { file, bytes: 0, readBytes: 0, lines: 0, appliedLines: 0, refusedCount: 0, refused: [] };
}
