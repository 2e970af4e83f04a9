import { closeSync, createReadStream, createWriteStream, openSync } from 'node:fs';
import { open, rename, stat, truncate } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { isCodedError } from '../process/start-fault.js';

const POLL_MS = 1_000;
const TURN_OVER_BYTES = 64 * 1024 * 1024;
/** The most to read at once; the rest stays in the file. */
const CHUNK_BYTES = 256 * 1024;
const LOUD = new Set(['warn', 'error', 'fatal']);

/**
 * The log of a child. The child writes to the file itself, so neither depends on the other's speed or life. We read it and pass on
 * what an operator should see.
 */
export class LogFile {
  private position = 0;
  private partial = '';
  private timer: NodeJS.Timeout | undefined;
  private reading: Promise<void> = Promise.resolve();

  constructor(
    readonly path: string,
    private readonly forward: (line: string) => void,
    private readonly turnOverBytes = TURN_OVER_BYTES,
  ) {}

  async start(): Promise<void> {
    const size = await this.size();
    if (size > this.turnOverBytes) await rename(this.path, this.former);
    this.position = size > this.turnOverBytes ? 0 : size;
    this.timer = setInterval(() => void this.readOn(), POLL_MS).unref();
  }

  /** For a child's standard output. A log that cannot be opened must not prevent the start; its lines are lost. */
  withDescriptor<T>(use: (descriptor: number | 'ignore') => T): T {
    const descriptor = this.open();
    try {
      return use(descriptor);
    } finally {
      if (descriptor !== 'ignore') closeSync(descriptor);
    }
  }

  private open(): number | 'ignore' {
    try {
      return openSync(this.path, 'a', 0o600);
    } catch (error) {
      this.forward(`its log cannot be written (${error instanceof Error ? error.message : String(error)})`);
      return 'ignore';
    }
  }

  /** Reads to the present end. */
  readOn(): Promise<void> {
    this.reading = this.reading.then(() => this.read()).catch(() => undefined);
    return this.reading;
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private async read(): Promise<void> {
    const size = await this.size();
    if (size < this.position) this.position = 0;
    if (size === this.position) return;
    // After a flood only its end is worth reading.
    this.position = Math.max(this.position, size - CHUNK_BYTES);
    const file = await open(this.path, 'r');
    try {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, this.position);
      this.position += bytesRead;
      this.take(buffer.toString('utf8', 0, bytesRead));
    } finally {
      await file.close();
    }
    if (size > this.turnOverBytes) await this.turnOver(size);
  }

  private get former(): string {
    return `${this.path}.1`;
  }

  /** Keeps the end of a flood. The writer appends, so truncating the file meanwhile is safe; lines written in between are lost. */
  private async turnOver(size: number): Promise<void> {
    const end = createReadStream(this.path, { start: size - this.turnOverBytes, end: size - 1 });
    await pipeline(end, createWriteStream(this.former, { mode: 0o600 }));
    await truncate(this.path);
    this.position = 0;
  }

  private take(text: string): void {
    const lines = (this.partial + text).split('\n');
    this.partial = lines.pop() ?? '';
    for (const line of lines) {
      const shown = summarise(line);
      if (shown !== undefined) this.forward(shown);
    }
  }

  private async size(): Promise<number> {
    return stat(this.path).then(
      (entry) => entry.size,
      (error: unknown) => {
        if (isCodedError(error) && error.code === 'ENOENT') return 0;
        throw error;
      },
    );
  }
}

interface LogLine {
  readonly level?: unknown;
  readonly msg?: unknown;
  readonly err?: { readonly message?: unknown };
}

/** The body of a stack trace and its end: its first line has named the fault. */
const TRACE = /^(\s|[\]}]|Node\.js v)/;

/** Warnings and worse in short; other text comes from Node itself and is shown unchanged. */
export function summarise(line: string): string | undefined {
  if (line === '' || TRACE.test(line)) return undefined;
  let parsed: LogLine;
  try {
    parsed = JSON.parse(line) as LogLine;
  } catch {
    return line;
  }
  if (typeof parsed.level !== 'string' || !LOUD.has(parsed.level)) return undefined;
  const cause = typeof parsed.err?.message === 'string' ? ` (${parsed.err.message})` : '';
  return `${parsed.level} ${String(parsed.msg)}${cause}`;
}
