import { pause, type Clock } from '#libs/platform/time/clock.js';
import { fault, type LinkReply } from '#libs/owner-link/protocol.js';

/** How long a repeat waits for the outcome of the call that it repeats. */
const PATIENCE_MILLIS = 5_000;

interface InWork {
  readonly content: string;
  readonly outcome: Promise<LinkReply>;
}

/** Commands whose outcome is not yet durable, by what their callers called them. */
export class CommandsInWork {
  private readonly commands = new Map<string, InWork>();

  constructor(private readonly clock: Clock) {}

  get size(): number {
    return this.commands.size;
  }

  /** Runs `work` unless the same command is being worked on; then waits for that outcome and gives it as a repeat. */
  once(name: string, content: string, work: () => Promise<LinkReply>): Promise<LinkReply> {
    const running = this.commands.get(name);
    if (running !== undefined) {
      return this.repeated(running, content, () => this.once(name, content, work));
    }
    const outcome = work().finally(() => {
      this.commands.delete(name);
    });
    this.commands.set(name, { content, outcome });
    return outcome;
  }

  private async repeated(
    running: InWork,
    content: string,
    again: () => Promise<LinkReply>,
  ): Promise<LinkReply> {
    const late = pause(this.clock, PATIENCE_MILLIS).then(() => undefined);
    const reply = await Promise.race([running.outcome, late]);
    if (reply === undefined) {
      return fault(
        409,
        'idempotency_key_in_progress',
        'The first call with this key is still being worked on.',
      );
    }
    if (running.content === content && isDurable(reply)) return asRepeat(reply);
    // The first call came to nothing that is kept, and this one stands on its own; or what is kept tells of the conflict.
    return again();
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
