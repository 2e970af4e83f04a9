import { codeOf, fault, reply, type LinkReply } from '#libs/link/link-protocol.js';
import type { BucketName, OwnerRequest, ReadPreferences } from '../protocol/protocol.js';
import type { AuctionEntry } from './memory/auction-book.js';
import { UNAVAILABLE, type AuctionTask, type Submit } from './auction-task.js';
import type { ConnectionDesk } from './connections/connection-desk.js';
import type { CommandAdmission } from './command-admission.js';
import type { OperatorDesk } from './operator-desk.js';
import type { PendingAwards } from './pending-awards.js';
import type { ShardMeter } from './ports.js';
import type { Preflights } from './preflights.js';
import type { Reads } from './reads.js';
import { CancelTask } from './tasks/cancel-task.js';
import { CreateTask } from './tasks/create-task.js';
import { ExecutionTask } from './tasks/internal-tasks.js';
import { reviseRule, submitRule, withdrawRule } from './tasks/quote-rules.js';
import { QuoteTask, type QuoteRule } from './tasks/quote-task.js';
import type { Settle, ShardContext } from './tasks/shard-context.js';
import { WithdrawAllTask } from './tasks/withdraw-all-task.js';
import type { TokenExchange } from '#libs/shard/tokens/token-exchange.js';
import type { TokenHome } from '#libs/shard/tokens/token-home.js';

export interface OperationPorts {
  readonly context: ShardContext;
  readonly admission: CommandAdmission;
  readonly reads: Reads;
  readonly preflights: Preflights;
  readonly tokens: TokenExchange<BucketName>;
  readonly home: TokenHome<BucketName>;
  readonly submit: Submit;
  readonly meter: ShardMeter;
  readonly status: () => LinkReply;
  readonly awards: PendingAwards;
  readonly connections: ConnectionDesk;
  readonly operators: OperatorDesk;
  readonly onFault: (part: string, error: unknown) => void;
}

type Request<Op extends OwnerRequest['op']> = Extract<OwnerRequest, { op: Op }>;
type QuoteCommand = Request<'submit' | 'revise' | 'withdraw'>;

const UNKNOWN_AUCTION = fault(404, 'auction_not_found');
const COMMANDS: ReadonlySet<OwnerRequest['op']> = new Set<OwnerRequest['op']>([
  'create',
  'cancel',
  'submit',
  'revise',
  'withdraw',
  'withdraw_all',
  'void',
  'drain',
  'resume',
]);

const TOO_MANY_REQUESTS = 429;

/**
 * Whether this reply refuses the command for good. Such a refusal may rest on memory alone (no such auction or quote, key never
 * used). Then no append proves that this process still owned the shard.
 */
export function isRefusedForGood({ op }: OwnerRequest, { status }: LinkReply): boolean {
  if (status < 400 || status >= 500 || status === TOO_MANY_REQUESTS) return false;
  return COMMANDS.has(op) || op === 'execution_report';
}

/** Passes each request of a shard to the part that answers it. */
export class ShardOperations {
  constructor(private readonly ports: OperationPorts) {}

  async handle(request: OwnerRequest, peer: ReadPreferences): Promise<LinkReply> {
    const answer = await this.guarded(request, peer);
    if (COMMANDS.has(request.op)) this.ports.meter.command(request.op, answer.status, codeOf(answer) ?? 'ok');
    return answer;
  }

  /** A failed look-up is answered as unavailable. The caller may retry with the same key. */
  private async guarded(request: OwnerRequest, peer: ReadPreferences): Promise<LinkReply> {
    try {
      return await this.answer(request, peer);
    } catch (error) {
      this.ports.onFault(request.op, error);
      return UNAVAILABLE;
    }
  }

  private answer(request: OwnerRequest, peer: ReadPreferences): Promise<LinkReply> | LinkReply {
    const { reads, preflights } = this.ports;
    switch (request.op) {
      case 'create':
        return this.create(request);
      case 'withdraw_all':
        return this.withdrawAll(request);
      case 'cancel':
        return this.cancel(request);
      case 'submit':
      case 'revise':
      case 'withdraw':
        return this.quote(request);
      case 'auction':
        return reads.auction(request, peer);
      case 'auctions':
        return reads.auctions(request, peer);
      case 'auction_quotes':
        return reads.quotes(request);
      case 'my_quotes':
        return reads.unprojectedQuotes(request);
      case 'events':
        return reads.events(request);
      case 'originator_preflight':
        return preflights.ofOriginator(request);
      case 'quote_preflight':
        return preflights.ofQuote(request);
      case 'limits':
        return this.limits(request);
      case 'take_tokens':
        return this.grantTokens(request);
      case 'call_in':
        return reply(200, this.ports.tokens.recall(request));
      case 'execution_report':
        return this.report(request);
      case 'pending_awards':
        return this.pendingAwards(request);
      case 'shard_status':
        return this.ports.status();
      case 'presence':
        return this.ports.connections.presence(request);
      case 'void':
        return this.ports.operators.void(request);
      case 'drain':
      case 'resume':
        return this.ports.operators.shift(request);
    }
  }

  private async limits({ account }: Request<'limits'>): Promise<LinkReply> {
    return reply(200, { available: Object.fromEntries(await this.ports.home.available(account)) });
  }

  /** Synchronous where possible, so that leases are granted before the next message of the same owner is handled. */
  private grantTokens(request: Request<'take_tokens'>): Promise<LinkReply> | LinkReply {
    const granted = this.ports.home.grant(request);
    return granted instanceof Promise ? granted.then((all) => reply(200, all)) : reply(200, granted);
  }

  private create(request: Request<'create'>): Promise<LinkReply> {
    const { context, admission } = this.ports;
    const auctionIds = context.ids.auctions(request.account, request.key);
    return admission.onShard(request, auctionIds, async () => {
      await context.policy.freshenForCreate(request.body);
      if (!context.policy.isKnown) return UNAVAILABLE;
      return this.run((settle) => new CreateTask(context, request, settle));
    });
  }

  private withdrawAll(request: Request<'withdraw_all'>): Promise<LinkReply> {
    const { context, admission } = this.ports;
    return admission.onShard(request, [], () => {
      return this.run((settle) => new WithdrawAllTask(context, request, settle));
    });
  }

  private cancel(request: Request<'cancel'>): Promise<LinkReply> {
    const { context, admission } = this.ports;
    return admission.onAuction(request, (entry) => {
      return this.run((settle) => new CancelTask(context, entry, request, settle));
    });
  }

  private quote(request: QuoteCommand): Promise<LinkReply> {
    const { context, admission } = this.ports;
    return admission.onAuction(request, async (entry: AuctionEntry) => {
      if (request.op !== 'withdraw') {
        await context.policy.freshenForQuote(request.account);
        if (!context.policy.isKnownFor(request.account)) return UNAVAILABLE;
      }
      return this.run((settle) => new QuoteTask(context, entry, request, this.ruleOf(request), settle));
    });
  }

  private ruleOf(request: QuoteCommand): QuoteRule {
    const { context } = this.ports;
    switch (request.op) {
      case 'submit':
        return submitRule(context, request);
      case 'revise':
        return reviseRule(context, request);
      case 'withdraw':
        return withdrawRule(request);
    }
  }

  private report(request: Request<'execution_report'>): Promise<LinkReply> | LinkReply {
    const entry = this.ports.context.book.find(request.auction_id);
    if (entry === undefined) return UNKNOWN_AUCTION;
    return this.run((settle) => new ExecutionTask(this.ports.context, entry, request, settle));
  }

  private async pendingAwards({ known, wait_ms: wait }: Request<'pending_awards'>): Promise<LinkReply> {
    return reply(200, await this.ports.awards.next(known, wait));
  }

  private run(make: (settle: Settle) => AuctionTask): Promise<LinkReply> {
    return new Promise((resolve) => {
      if (!this.ports.submit(make(resolve))) resolve(UNAVAILABLE);
    });
  }
}
