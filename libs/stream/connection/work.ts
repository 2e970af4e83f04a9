import { reject } from '../server-messages.js';
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
    void this.intake.count(
      task().catch((error: unknown) => {
        this.onFault(error);
        this.line.say(reject(cmdId, FAILED));
      }),
    );
  }
}
