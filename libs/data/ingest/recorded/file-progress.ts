import type { RecordedFile, RefusedLine } from '../../store/recorded-table.js';
import type { LineRefusal } from '../read-event.js';
import { LineReader } from './line-reader.js';

const KEPT_REFUSALS = 20;

/** Consecutive lines of one file, whose events may go to several journals. */
export class TakenSlice {
  /** Lines that are projected, known, waiting for their market, or refused. */
  applied = 0;
  refused: RefusedLine[] = [];
  refusedCount = 0;
  private unsettled = 0;

  constructor(
    private readonly file: FileProgress,
    /** Of which its lines are. */
    readonly reading: LineReader,
    readonly lines: number,
    /** The byte after the last of them. */
    readonly end: number,
    private readonly firstLine: number,
  ) {}

  /** While some of its events may still be lost with this process. */
  get isUnsettled(): boolean {
    return this.unsettled > 0;
  }

  handOn(): void {
    this.unsettled += 1;
  }

  refuse(index: number, reason: LineRefusal): void {
    this.refused.push({ line: this.firstLine + index, reason });
    if (this.refused.length > KEPT_REFUSALS) this.refused.shift();
    this.refusedCount += 1;
    this.applied += 1;
  }

  /** So many of its events are where they outlive this process. */
  settle(events: number): void {
    this.unsettled -= events;
    if (this.unsettled === 0) this.file.advance();
  }

  addApplied(events: number): void {
    if (!this.file.addApplied(this, events)) this.applied += events;
  }
}

/** How far one file is read, in memory and for sure. */
export class FileProgress {
  private slices: TakenSlice[] = [];
  private reading: LineReader;
  private lineCount: number;
  private current: RecordedFile;
  private inode: number | undefined;
  /** Lines of an earlier process that were in the journals and not yet applied. */
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

  /** A file that became shorter, or another one under its name, is read again. What is known already changes nothing. */
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

  /** The position moves over lines of which nothing can be lost any more. */
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

  /** False while the position is before the slice: it then says itself how many of its lines are applied. */
  addApplied(slice: TakenSlice, events: number): boolean {
    if (slice.reading !== this.reading) return true;
    if (slice.end > this.current.readBytes) return false;
    this.change({ appliedLines: this.current.appliedLines + events });
    return true;
  }

  /** All that the journals held at the start is applied. */
  applyInherited(): void {
    if (this.inherited === 0) return;
    this.change({ appliedLines: this.current.appliedLines + this.inherited });
    this.inherited = 0;
  }

  /** Whether there is something to store. */
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
