import { pause, type Clock } from '#libs/platform/time/clock.js';
import { fault, type LinkReply } from '#libs/link/link-protocol.js';

/** How long a repeat waits for the outcome of the call that it repeats. */
const PATIENCE_MILLIS = 5_000;

interface InWork {
  readonly content: string;
  readonly outcome: Promise<LinkReply>;
}

interface Repeat {
  readonly work: () => Promise<LinkReply>;
  /** Resolves with nothing when its patience is over. */
  readonly late: Promise<undefined>;
}

const IN_PROGRESS = fault(
  409,
  'idempotency_key_in_progress',
  'The first call with this key is still being worked on.',
);

/** Commands whose outcome is not yet durable, by what their callers called them. */
export class CommandsInWork {
  private readonly commands = new Map<string, InWork>();

  constructor(private readonly clock: Clock) {}

  get size(): number {
    return this.commands.size;
  }

  /**
   * Runs `work` unless the same command is being worked on; then waits for that outcome and gives it as a repeat. However many calls
   * before it come to nothing, its patience counts from its own arrival.
   */
  once(name: string, content: string, work: () => Promise<LinkReply>): Promise<LinkReply> {
    if (!this.commands.has(name)) return this.run(name, content, work);
    const late = pause(this.clock, PATIENCE_MILLIS).then(() => undefined);
    return this.repeated(name, content, { work, late });
  }

  private run(name: string, content: string, work: () => Promise<LinkReply>): Promise<LinkReply> {
    const outcome = work().finally(() => {
      this.commands.delete(name);
    });
    this.commands.set(name, { content, outcome });
    return outcome;
  }

  private async repeated(name: string, content: string, { work, late }: Repeat): Promise<LinkReply> {
    for (;;) {
      const running = this.commands.get(name);
      // Those before it came to nothing that is kept, and this one stands on its own; or what is kept tells of the conflict.
      if (running === undefined) return this.run(name, content, work);
      const reply = await Promise.race([late, running.outcome]);
      if (reply === undefined) return IN_PROGRESS;
      if (running.content === content && isDurable(reply)) return asRepeat(reply);
    }
  }
}

export const KEY_CONFLICT = 'This idempotency key was used before, with other content.';

/** Successes and the engine's refusals answer every repeat; anything else is forgotten. */
export function isDurable(reply: LinkReply): boolean {
  return reply.status < 300 || (reply.status === 422 && !reply.body.startsWith('{"error":"COMMAND_EXPIRED"'));
}

export function asRepeat(reply: LinkReply): LinkReply {
  return reply.status === 201 ? { status: 200, body: reply.body } : reply;
}
