import type { Operation } from '../rules/events.js';
import type { Instant } from '#libs/base/instant.js';
import { findQuote } from '../rules/state.js';
import { isOverFor, viewerOf, type ViewerRole } from '../rules/told/viewer.js';
import { fault, type LinkReply } from '#libs/link/link-protocol.js';
import type { BucketName, OwnerRequest } from '../protocol/protocol.js';
import type { AuctionEntry } from './memory/auction-book.js';
import type { Impediment } from '#libs/shard/conditions/conditions.js';
import type { InFlightCommands } from '#libs/shard/in-flight-commands.js';
import { REPEATS, refusalReply, UNAVAILABLE } from './auction-task.js';
import type { QuoteMeter } from './auction-tokens.js';
import type { CommandScope, CompletedAuctions, StoredAnswer } from './ports.js';
import type { StoredAnswers } from './memory/stored-answers.js';
import { isTooLate, TOO_LATE } from './tasks/shard-context.js';
import type { TokenExchange } from '#libs/shard/tokens/token-exchange.js';

export type QuoteCommand = Extract<OwnerRequest, { op: 'submit' | 'revise' | 'withdraw' }>;
export type AuctionCommand = QuoteCommand | Extract<OwnerRequest, { op: 'cancel' }>;
export type ShardCommand = Extract<OwnerRequest, { op: 'create' | 'withdraw_all' }>;

interface PauseReasons {
  readonly clock: { isSound(): boolean };
  impediment(): Impediment | undefined;
}

export interface AdmissionPorts {
  readonly shard: number;
  /** Finds an auction in memory in which the account takes part. */
  readonly find: (account: string, auctionId: string) => AuctionEntry | undefined;
  readonly inFlight: InFlightCommands<LinkReply>;
  readonly stored: StoredAnswers;
  readonly completed: CompletedAuctions;
  /** The last durable position of the journal. */
  readonly durableHead: () => number;
  readonly tokens: TokenExchange<BucketName>;
  readonly perAuction: QuoteMeter;
  readonly now: () => Instant;
  readonly conditions: PauseReasons;
}

const OPERATION: Readonly<Record<AuctionCommand['op'] | ShardCommand['op'], Operation>> = {
  create: 'CREATE',
  cancel: 'CANCEL',
  submit: 'SUBMIT',
  revise: 'REVISE',
  withdraw: 'WITHDRAW',
  withdraw_all: 'WITHDRAW_ALL',
};

const BUCKET: Readonly<Record<AuctionCommand['op'] | ShardCommand['op'], BucketName>> = {
  create: 'create',
  cancel: 'cancel',
  submit: 'quote',
  revise: 'quote',
  withdraw: 'withdraw',
  withdraw_all: 'withdraw',
};

const NOT_FOUND = fault(404, 'auction_not_found');
const QUOTE_NOT_FOUND = fault(404, 'quote_not_found');
const FORBIDDEN = fault(403, 'forbidden');
const RATE_LIMITED = fault(429, 'auction_mutation_rate_limited');
const CONFLICT = fault(
  409,
  'idempotency_key_conflict',
  'This idempotency key was used before, with other content.',
);
const EXPIRED = refusalReply(TOO_LATE);
const OVER = fault(422, 'AUCTION_NOT_OPEN', 'The auction is not open.');

const PAUSES: Readonly<Record<Impediment, LinkReply>> = {
  DRAINING: UNAVAILABLE,
  CLOCK: fault(503, 'clock_unhealthy'),
  JOURNAL_FULL: fault(503, 'journal_capacity_unhealthy'),
  JOURNAL_ROOM_UNKNOWN: UNAVAILABLE,
  PROJECTION_LAG: fault(503, 'projection_backlog'),
};

/**
 * Every check between a command's arrival and the command loop, in the documented order: visibility, role, repeat, token bucket,
 * pauses. Nothing here changes the shard.
 */
export class CommandAdmission {
  constructor(private readonly ports: AdmissionPorts) {}

  /** `run` hands the command to the loop and resolves with its durable outcome. */
  onAuction(command: AuctionCommand, run: (entry: AuctionEntry) => Promise<LinkReply>): Promise<LinkReply> {
    const entry = this.ports.find(command.account, command.auction_id);
    if (entry?.durable === undefined) return this.onCompleted(command);
    const { durable } = entry;
    const viewer = viewerOf(durable, command.account);
    // The same look-up as for an unknown id, so that the response time does not reveal which case it is.
    if (viewer === undefined) return this.onCompleted(command);
    if (viewer.role !== roleFor(command)) return Promise.resolve(FORBIDDEN);
    if (!ownsQuote(entry, command)) return Promise.resolve(QUOTE_NOT_FOUND);
    return this.ports.inFlight.once(inFlightKey(command), command.content, async () => {
      const answered = await this.replyOnAuction(entry, command);
      if (answered !== undefined) return answered;
      // Only a durable end is answered here. If an end is not durable yet, the loop decides and replies after the append.
      if (isOverFor(durable, viewer)) return (await this.meter(command)) ?? this.overReply(command);
      return (await this.meter(command)) ?? pauseOf(this.ports.conditions, command.op) ?? run(entry);
    });
  }

  onShard(
    command: ShardCommand,
    auctionIds: readonly string[],
    run: () => Promise<LinkReply>,
  ): Promise<LinkReply> {
    return this.ports.inFlight.once(inFlightKey(command), command.content, async () => {
      const answered = await this.earlierReply(command, auctionIds);
      if (answered !== undefined) return answered;
      const metered =
        command.op === 'withdraw_all' && !command.metered ? undefined : await this.meter(command);
      return metered ?? pauseOf(this.ports.conditions, command.op) ?? run();
    });
  }

  /** `auctionIds`: the ids that the auction of a create may have. Empty for a command that opens no auction. */
  private async earlierReply(
    command: ShardCommand,
    auctionIds: readonly string[],
  ): Promise<LinkReply | undefined> {
    if (auctionIds.length === 0) return this.replyOfShard(command, undefined);
    for (const auctionId of auctionIds) {
      const live = this.ports.find(command.account, auctionId);
      const answered =
        live === undefined ? this.replyOfShard(command, auctionId) : this.replyOnAuction(live, command);
      const answer = await answered;
      if (answer !== undefined) return answer;
    }
    return undefined;
  }

  private async replyOnAuction(
    entry: AuctionEntry,
    command: AuctionCommand | ShardCommand,
  ): Promise<LinkReply | undefined> {
    const name = { ...operationAndKey(command), account_id: command.account };
    for (const position of entry.commands.find(name)) {
      const answer = await this.ports.stored.ofAuction(entry, position, name);
      if (answer !== undefined) return repeatOf(answer, command.content);
    }
    return undefined;
  }

  private async replyOfShard(
    command: ShardCommand,
    auctionId: string | undefined,
  ): Promise<LinkReply | undefined> {
    const where = auctionId === undefined ? { shard: this.ports.shard } : { auctionId };
    const scope = { ...operationAndKey(command), account: command.account, ...where };
    const answer = this.ports.stored.recent(scope) ?? (await this.olderReply(scope));
    return answer === undefined ? undefined : repeatOf(answer, command.content);
  }

  /** For an auction that was evicted, the owner's own history takes precedence over the projections. */
  private async olderReply(scope: CommandScope): Promise<StoredAnswer | undefined> {
    const [forgotten, projected] = await Promise.all([
      this.ports.stored.ofForgotten(scope),
      this.projectedReply(scope),
    ]);
    return forgotten ?? projected;
  }

  private async projectedReply(scope: CommandScope): Promise<StoredAnswer | undefined> {
    const { completed, stored, durableHead } = this.ports;
    const answer = await completed.answer(scope);
    const isInJournal = answer !== undefined && answer.position > 0 && answer.position <= durableHead();
    return isInJournal ? await stored.proven(answer, scope) : undefined;
  }

  /** The auction is not in memory: it is over, or it never existed. */
  private async onCompleted(command: AuctionCommand): Promise<LinkReply> {
    const { completed } = this.ports;
    const role = await completed.roleOn(command.auction_id, command.account);
    if (role === undefined) return NOT_FOUND;
    if (role !== roleFor(command)) return FORBIDDEN;
    if ('quote_id' in command) {
      const owned = await completed.ownsQuote(command.auction_id, command.quote_id, command.account);
      if (!owned) return QUOTE_NOT_FOUND;
    }
    const scope = { ...operationAndKey(command), account: command.account, auctionId: command.auction_id };
    const answer = await this.projectedReply(scope);
    if (answer !== undefined) return repeatOf(answer, command.content);
    return (await this.meter(command)) ?? this.overReply(command);
  }

  private overReply(command: AuctionCommand): LinkReply {
    return isTooLate(command, this.ports.now()) ? EXPIRED : OVER;
  }

  private async meter(command: AuctionCommand | ShardCommand): Promise<LinkReply | undefined> {
    const perAuction = command.op === 'submit' || command.op === 'revise' ? command.auction_id : undefined;
    if (perAuction !== undefined && !this.ports.perAuction.has(command.account, perAuction))
      return RATE_LIMITED;
    const taken = this.ports.tokens.take(command.account, BUCKET[command.op]);
    if (!(typeof taken === 'boolean' ? taken : await taken)) return RATE_LIMITED;
    if (perAuction !== undefined && !this.ports.perAuction.take(command.account, perAuction))
      return RATE_LIMITED;
    return undefined;
  }
}

function operationAndKey(command: AuctionCommand | ShardCommand): { operation: Operation; key: string } {
  return { operation: OPERATION[command.op], key: command.key };
}

function inFlightKey(command: AuctionCommand | ShardCommand): string {
  const auction = 'auction_id' in command ? command.auction_id : '';
  return `${auction}/${OPERATION[command.op]}/${command.account}/${command.key}`;
}

function roleFor(command: AuctionCommand): ViewerRole {
  return command.op === 'cancel' ? 'ORIGINATOR' : 'MARKET_MAKER';
}

function ownsQuote(entry: AuctionEntry, command: AuctionCommand): boolean {
  if (!('quote_id' in command) || entry.durable === undefined) return true;
  return findQuote(entry.durable, command.quote_id)?.maker === command.account;
}

function repeatOf(answer: StoredAnswer, content: string): LinkReply {
  return answer.content === content ? REPEATS.asRepeat(answer.reply) : CONFLICT;
}

/** The refusal while this owner accepts no command of this kind. Withdrawals and cancels always work. */
export function pauseOf(conditions: PauseReasons, op: OwnerRequest['op']): LinkReply | undefined {
  if (op === 'create') {
    const impediment = conditions.impediment();
    return impediment === undefined ? undefined : PAUSES[impediment];
  }
  const needsClock = op === 'submit' || op === 'revise';
  return needsClock && !conditions.clock.isSound() ? PAUSES.CLOCK : undefined;
}
