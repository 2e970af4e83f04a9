import { pause, type Clock } from '#libs/platform/time/clock.js';

/** How long a repeat waits for the outcome of the call that it repeats. */
const PATIENCE_MILLIS = 5_000;

/** How a service treats repeats. */
export interface RepeatRules<Reply> {
  /** The reply to a repeat that has waited too long. */
  readonly inProgress: Reply;
  /** Whether the reply answers every repeat. After any other reply the command may be tried again. */
  isFinal(reply: Reply): boolean;
  /** Turns a first reply into the reply to a repeat. */
  asRepeat(reply: Reply): Reply;
}

interface InFlight<Reply> {
  readonly content: string;
  readonly outcome: Promise<Reply>;
}

interface Repeat<Reply> {
  readonly work: () => Promise<Reply>;
  /** Resolves with nothing when the repeat has waited long enough. */
  readonly late: Promise<undefined>;
}

/** Commands whose outcome is not yet durable, by their callers' names for them. */
export class InFlightCommands<Reply> {
  private readonly commands = new Map<string, InFlight<Reply>>();

  constructor(
    private readonly clock: Clock,
    private readonly rules: RepeatRules<Reply>,
  ) {}

  get size(): number {
    return this.commands.size;
  }

  /**
   * Runs `work` unless the same command is in flight; then waits for that outcome and answers as a repeat. The wait is counted from the
   * arrival of this call, however many calls before it fail.
   */
  once(name: string, content: string, work: () => Promise<Reply>): Promise<Reply> {
    if (!this.commands.has(name)) return this.run(name, content, work);
    const late = pause(this.clock, PATIENCE_MILLIS).then(() => undefined);
    return this.repeated(name, content, { work, late });
  }

  private run(name: string, content: string, work: () => Promise<Reply>): Promise<Reply> {
    const outcome = work().finally(() => {
      this.commands.delete(name);
    });
    this.commands.set(name, { content, outcome });
    return outcome;
  }

  private async repeated(name: string, content: string, { work, late }: Repeat<Reply>): Promise<Reply> {
    for (;;) {
      const running = this.commands.get(name);
      // The calls before it left no final reply, so this one runs by itself; or `work` finds a final reply and refuses the conflict.
      if (running === undefined) return this.run(name, content, work);
      const reply = await Promise.race([late, running.outcome]);
      if (reply === undefined) return this.rules.inProgress;
      if (running.content === content && this.rules.isFinal(reply)) return this.rules.asRepeat(reply);
    }
  }
}
