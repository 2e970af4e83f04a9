import { closeSync, createReadStream, createWriteStream, openSync } from 'node:fs';
import { open, rename, stat, truncate } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { isCodedError } from '../process/start-fault.js';

const POLL_MS = 1_000;
const ROTATE_BYTES = 64 * 1024 * 1024;
/** The most to read at once. The rest stays in the file. */
const CHUNK_BYTES = 256 * 1024;
const FORWARDED_LEVELS = new Set(['warn', 'error', 'fatal']);

/**
 * The log of a child process. The child writes the file itself, so neither process depends on the other. This reads the file, and
 * forwards the lines that an operator should see.
 */
export class LogFile {
  private position = 0;
  private partial = '';
  private timer: NodeJS.Timeout | undefined;
  private reading: Promise<void> = Promise.resolve();

  constructor(
    readonly path: string,
    private readonly forward: (line: string) => void,
    private readonly rotateBytes = ROTATE_BYTES,
  ) {}

  async start(): Promise<void> {
    const size = await this.size();
    if (size > this.rotateBytes) await rename(this.path, this.rotatedPath);
    this.position = size > this.rotateBytes ? 0 : size;
    this.timer = setInterval(() => void this.readOn(), POLL_MS).unref();
  }

  /** For a child's standard output. If the log cannot be opened, the child starts nevertheless and its lines are lost. */
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

  /** Reads up to the present end of the file. */
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
    // After a flood of lines only the end is read.
    this.position = Math.max(this.position, size - CHUNK_BYTES);
    const file = await open(this.path, 'r');
    try {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, this.position);
      this.position += bytesRead;
      this.forwardLines(buffer.toString('utf8', 0, bytesRead));
    } finally {
      await file.close();
    }
    if (size > this.rotateBytes) await this.rotate(size);
  }

  private get rotatedPath(): string {
    return `${this.path}.1`;
  }

  /** Copies the end of the file and truncates it, which is safe because the writer appends. Lines written meanwhile are lost. */
  private async rotate(size: number): Promise<void> {
    const end = createReadStream(this.path, { start: size - this.rotateBytes, end: size - 1 });
    await pipeline(end, createWriteStream(this.rotatedPath, { mode: 0o600 }));
    await truncate(this.path);
    this.position = 0;
  }

  private forwardLines(text: string): void {
    const lines = (this.partial + text).split('\n');
    this.partial = lines.pop() ?? '';
    for (const line of lines) {
      const summary = summarise(line);
      if (summary !== undefined) this.forward(summary);
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

/** Lines of a stack trace after the first, which has already named the fault. */
const STACK_TRACE = /^(\s|[\]}]|Node\.js v)/;

/** Shortens warnings and errors. Text that is not JSON comes from Node itself, and is returned unchanged. */
export function summarise(line: string): string | undefined {
  if (line === '' || STACK_TRACE.test(line)) return undefined;
  let parsed: LogLine;
  try {
    parsed = JSON.parse(line) as LogLine;
  } catch {
    return line;
  }
  if (typeof parsed.level !== 'string' || !FORWARDED_LEVELS.has(parsed.level)) return undefined;
  const cause = typeof parsed.err?.message === 'string' ? ` (${parsed.err.message})` : '';
  return `${parsed.level} ${String(parsed.msg)}${cause}`;
}
