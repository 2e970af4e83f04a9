import type { Clock } from '#libs/platform/time/clock.js';

const KEPT_MILLIS = 250;
const MOST_KEPT_CHARS = 64 * 1024 * 1024;

/** Answers that many ask for at the same moment: asked once, and kept for a quarter of a second once they are there. */
export class Burst {
  private readonly answers = new Map<string, Promise<string>>();
  private keptChars = 0;

  constructor(private readonly clock: Clock) {}

  of(key: string, ask: () => Promise<string>): Promise<string> {
    const known = this.answers.get(key);
    if (known !== undefined) return known;
    const answer = this.keep(key, ask);
    this.answers.set(key, answer);
    return answer;
  }

  /** A failure is told to those who wait for it, and no one else. */
  private async keep(key: string, ask: () => Promise<string>): Promise<string> {
    try {
      const text = await ask();
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
