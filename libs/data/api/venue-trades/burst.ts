import type { Clock } from '#libs/platform/time/clock.js';

const KEPT_MILLIS = 250;
const MOST_KEPT_CHARS = 64 * 1024 * 1024;

/** Shares one request among concurrent callers with the same key, and keeps its answer for a quarter of a second. */
export class Burst {
  private readonly answers = new Map<string, Promise<string>>();
  private keptChars = 0;

  constructor(private readonly clock: Clock) {}

  of(key: string, read: () => Promise<string>): Promise<string> {
    const cached = this.answers.get(key);
    if (cached !== undefined) return cached;
    const answer = this.keep(key, read);
    this.answers.set(key, answer);
    return answer;
  }

  /** A failure reaches only the callers that already wait, and is not cached. */
  private async keep(key: string, read: () => Promise<string>): Promise<string> {
    try {
      const text = await read();
      if (this.keptChars + text.length > MOST_KEPT_CHARS) {
        this.answers.delete(key);
        return text;
      }
      this.keptChars += text.length;
      this.clock.after(KEPT_MILLIS, () => {
        this.keptChars -= text.length;
        this.answers.delete(key);
      });
      return text;
    } catch (error) {
      this.answers.delete(key);
      throw error;
    }
  }
}
