import type { ClientMessage, CommandName } from '../client-messages.js';
import type { CommandAnswer, Commands } from '../ports.js';
import { ack, reject } from '../server-messages.js';
import { CLOSE } from '#libs/socket/socket.js';
import type { Line } from '#libs/socket/line.js';
import { INVALID, SESSION_UNKNOWN } from '#libs/socket/refusals.js';
import type { SessionGuard } from '#libs/socket/session-guard.js';
import type { Work } from '#libs/socket/work.js';

/** Commands: done under a session that holds at this moment, and answered when they are done. */
export class CommandDesk {
  constructor(
    private readonly commands: Commands,
    private readonly guard: SessionGuard,
    private readonly line: Line,
    private readonly work: Work,
    private readonly connectionId: string,
  ) {}

  take({ cmdId, fields }: ClientMessage, name: CommandName): void {
    if (fields === undefined) {
      this.line.say(reject(cmdId, INVALID));
      return;
    }
    const standing = this.guard.check();
    this.work.run(cmdId, async () => {
      const known = standing instanceof Promise ? await standing : standing;
      // Nobody watches any more over what would be done for a connection that is gone.
      if (this.line.isEnded) return;
      if (known === 'unauthorized') this.line.close(CLOSE.unauthorized, 'the session has ended');
      else if (known === 'unavailable') this.line.say(reject(cmdId, SESSION_UNKNOWN));
      else {
        const { principal } = this.guard;
        this.answer(
          cmdId,
          await this.commands.run({ name, fields, principal, connectionId: this.connectionId }),
        );
      }
    });
  }

  private answer(cmdId: string, { status, body }: CommandAnswer): void {
    if (status < 400) this.line.say(ack(cmdId, status, body === '' ? '{}' : body));
    else this.line.say(reject(cmdId, { status, ...(JSON.parse(body) as { error: string }) }));
  }
}
