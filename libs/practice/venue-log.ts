import { open, type FileHandle } from 'node:fs/promises';
import { EXIT, StartFault } from '#libs/platform/process/start-fault.js';
import type { LoggedCommand } from './venue/terms.js';

/**
 * The log of a venue's commands, one per line, oldest first. A command counts once it is on disk. Lines that arrive
 * during a write share the next write. A last line without an end was never answered, so it is cut off.
 */
export class VenueLog {
  private waiting: string[] = [];
  private writing: Promise<void> | undefined;
  private next: Promise<void> | undefined;
  private fault: unknown;

  private constructor(private readonly file: FileHandle) {}

  /** Replays every recorded command in order. */
  static async open(path: string, replay: (command: LoggedCommand) => void): Promise<VenueLog> {
    const file = await open(path, 'a+', 0o600);
    try {
      const kept = await replayed(file, path, replay);
      await file.truncate(kept);
      await file.sync();
    } catch (error) {
      await file.close();
      throw error;
    }
    return new VenueLog(file);
  }

  /** Resolves once the command is on disk. */
  append(command: LoggedCommand): Promise<void> {
    this.waiting.push(`${JSON.stringify(command)}\n`);
    return this.durable();
  }

  /** Resolves once everything appended so far is on disk. */
  durable(): Promise<void> {
    if (this.fault !== undefined)
      return Promise.reject(new Error('the log accepts no more commands', { cause: this.fault }));
    if (this.waiting.length === 0) return this.writing ?? Promise.resolve();
    this.next ??= (this.writing ?? Promise.resolve()).then(() => this.write());
    return this.next;
  }

  async close(): Promise<void> {
    await this.durable().catch(() => undefined);
    await this.file.close();
  }

  private write(): Promise<void> {
    const lines = this.waiting.join('');
    this.waiting = [];
    this.next = undefined;
    this.writing = this.store(lines);
    return this.writing;
  }

  private async store(lines: string): Promise<void> {
    try {
      await this.file.appendFile(lines);
      await this.file.datasync();
    } catch (error) {
      this.fault = error;
      throw error;
    }
  }
}

/** Returns the number of bytes of whole lines. */
async function replayed(
  file: FileHandle,
  path: string,
  replay: (command: LoggedCommand) => void,
): Promise<number> {
  let [kept, torn, line] = [0, Buffer.alloc(0), 0];
  for await (const chunk of file.createReadStream({ autoClose: false, start: 0 }) as AsyncIterable<Buffer>) {
    let text = torn.length === 0 ? chunk : Buffer.concat([torn, chunk]);
    for (let end = text.indexOf(10); end >= 0; end = text.indexOf(10)) {
      line += 1;
      replay(commandOf(text.subarray(0, end).toString('utf8'), `${path}, line ${line}`));
      kept += end + 1;
      text = text.subarray(end + 1);
    }
    torn = Buffer.from(text);
  }
  return kept;
}

function commandOf(text: string, where: string): LoggedCommand {
  try {
    // This class wrote it from this type. If it is not JSON, it was damaged later.
    return JSON.parse(text) as LoggedCommand;
  } catch {
    throw new StartFault(`${where}: this is not a record of a practice venue`, EXIT.damaged);
  }
}
