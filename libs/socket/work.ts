import { reject } from '#libs/auction/stream/server-messages.js';
import type { Intake } from './intake.js';
import type { Line } from './line.js';
import { FAILED } from './refusals.js';

/** What cannot be answered at once. */
export class Work {
  constructor(
    private readonly intake: Intake,
    private readonly line: Line,
    private readonly onFault: (error: unknown) => void,
  ) {}

  run(cmdId: string, task: () => Promise<void>): void {
    this.intake.awaitAnswer();
    void this.follow(cmdId, task);
  }

  private async follow(cmdId: string, task: () => Promise<void>): Promise<void> {
    try {
      await task();
    } catch (error) {
      this.onFault(error);
      this.line.say(reject(cmdId, FAILED));
    } finally {
      this.intake.answered();
    }
  }
}
