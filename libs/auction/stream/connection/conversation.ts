import { isCommand, isControl, type ClientMessage } from '../client-messages.js';
import type { ConnectionStanding } from '../ports.js';
import { ack, reject } from '../server-messages.js';
import { CLOSE } from '#libs/socket/socket.js';
import type { Subscription } from '../subscriptions/subscription.js';
import { SubscriptionBook } from '../subscriptions/subscription-book.js';
import { CommandDesk } from './command-desk.js';
import type { ConnectionPorts } from './connection-ports.js';
import { ControlDesk } from './control-desk.js';
import type { Greeting } from './greeting.js';
import type { Intake } from '#libs/socket/intake.js';
import type { Line } from '#libs/socket/line.js';
import { INVALID } from '#libs/socket/refusals.js';
import type { SessionGuard } from '#libs/socket/session-guard.js';
import { SubscriptionDesk } from './subscription-desk.js';
import { Work } from '#libs/socket/work.js';

export interface ConversationParts {
  readonly line: Line;
  readonly intake: Intake;
  readonly guard: SessionGuard;
  readonly greeting: Greeting;
}

/** What is said behind the welcome, and who answers it. */
export class Conversation {
  readonly book: SubscriptionBook;
  private readonly line: Line;
  private readonly intake: Intake;
  private readonly subscriptions: SubscriptionDesk;
  private readonly controls: ControlDesk;
  private readonly commands: CommandDesk;
  private readonly standing: ConnectionStanding;
  private readonly isWatched: boolean;
  private saidBye = false;

  constructor(
    private readonly ports: ConnectionPorts,
    { line, intake, guard, greeting }: ConversationParts,
  ) {
    const { name, graceMillis, resumed } = greeting;
    this.line = line;
    this.intake = intake;
    this.book = this.openBook(greeting);
    const work = new Work(intake, line, ports.onFault);
    const subscriptions = new SubscriptionDesk(ports, this.book, line, work);
    this.subscriptions = subscriptions;
    this.commands = new CommandDesk(ports.commands, guard, line, work, name.connectionId);
    this.controls = new ControlDesk({
      line,
      work,
      guard,
      subscriptions,
      onBye: (cmdId) => this.leave(cmdId),
    });
    this.standing = { ...name, graceMillis };
    // A resumed connection may have been watched over before: the latest hello decides.
    this.isWatched = graceMillis !== undefined || resumed !== undefined;
    if (this.isWatched) ports.presence.here(this.standing);
  }

  take(said: ClientMessage): void {
    const { type } = said;
    if (isCommand(type)) this.commands.take(said, type);
    else if (isControl(type)) this.controls.take(said, type);
    else this.line.say(reject(said.cmdId, INVALID));
  }

  end(): void {
    this.book.stop();
    if (this.isWatched) this.ports.presence.gone(this.standing, this.saidBye ? 'BYE' : 'LOST');
  }

  /** What was said before it is answered before it. */
  private leave(cmdId: string): void {
    this.saidBye = true;
    void this.intake.close().then(() => {
      this.line.say(ack(cmdId, 200, '{}'));
      this.line.close(CLOSE.done, 'bye');
    });
  }

  private openBook({ name }: Greeting): SubscriptionBook {
    const { feed, tokens, clock, limits, meter } = this.ports;
    return new SubscriptionBook(
      {
        feed,
        tokens,
        clock,
        limits,
        outbox: this.line.outbox,
        onResync: (reason) => {
          meter.resynced(reason);
        },
        onNotHere: (subscription) => {
          void this.showFromArchive(subscription).catch((error: unknown) => this.fail(error));
        },
        onBehind: (subscription) => {
          this.subscriptions.catchUp(subscription);
        },
        onFault: (error) => {
          this.fail(error);
        },
      },
      name,
    );
  }

  /** An auction that ended so long ago that the feed has done with it is to be shown anew. */
  private async showFromArchive(subscription: Subscription): Promise<void> {
    const { book, ports, line } = this;
    const { round } = book;
    const auctionId = subscription.auctionId ?? '';
    const found = await ports.archive.view(book.account, auctionId);
    if (line.isEnded || !book.has(subscription) || book.round !== round) return;
    const sight = subscription.isOver ? undefined : ports.feed.find(auctionId, book.account);
    if (sight !== undefined) book.begin(subscription, [sight]);
    else if ('error' in found) line.close(CLOSE.draining, 'cannot go on here');
    else book.showEnded(subscription, found.text);
  }

  private fail(error: unknown): void {
    this.ports.onFault(error);
    this.line.close(CLOSE.draining, 'cannot go on here');
  }
}
