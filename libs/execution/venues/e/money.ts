import type { Instant } from '#libs/base/instant.js';
import { VAULT_USER, type Signer } from '../../protocol/signer-protocol.js';
import { printMicros } from '../../rules/micros.js';
import { goodAnswer } from '../answers.js';
import { VenueUnavailable, type AccountMovement, type VenueAccount, type VenueBalances } from '../port.js';
import { encodingOf, instantOf, millisOf, sideOf, tokenIdOf } from './amounts.js';
import type { VenueEMarkets } from './markets.js';
import type { VenueERequests } from './requests.js';
import { balances, exchangeReply, ledgerUpdates, spotMeta, type VenueEUpdate } from './shapes.js';

const COLLATERAL = 'USDC';
/** The chain that a wallet is on when it signs, and the network that it signs for. */
export const SIGNED_FOR = { signatureChainId: '0x66eee', hyperliquidChain: 'Mainnet' } as const;
/** Covers the difference between the venue's clock and ours. */
export const CLOCK_MARGIN_MILLIS = 2_000;

export interface MoneyParts {
  readonly requests: VenueERequests;
  readonly markets: VenueEMarkets;
  readonly signer: Signer;
  readonly user_id: string;
  readonly account: string;
}

type TransferInput = Parameters<VenueAccount['transfer']>[0];

/** Balances and movements of an account, and transfers between it and the vault's. */
export class VenueEMoney {
  constructor(private readonly parts: MoneyParts) {}

  async balances(): Promise<VenueBalances> {
    const { requests, markets, account } = this.parts;
    const question = { type: 'spotClearinghouseState', user: account };
    const rows = (await requests.read(question, balances)).balances;
    const cash = rows.find(({ coin }) => coin === COLLATERAL)?.total ?? 0n;
    const tokens: VenueBalances['tokens'][number][] = [];
    for (const { coin, total } of rows) {
      const side = coin.startsWith('+') ? sideOf(coin) : undefined;
      if (side === undefined || total === 0n) continue;
      const { market_id, outcome_index } = side;
      const outcome = await markets.label(market_id, outcome_index);
      tokens.push({ market_id, outcome, token_id: tokenIdOf(side), quantity: total });
    }
    return { cash: [{ asset: COLLATERAL, value: cash }], tokens };
  }

  async movements(since: Instant): Promise<readonly AccountMovement[]> {
    const startTime = Math.max(0, millisOf(since) - CLOCK_MARGIN_MILLIS);
    const updates = await this.updates(startTime);
    const vault = await this.vault();
    const movements: AccountMovement[] = [];
    for (const update of updates) {
      const movement = await this.movementOf(update, vault);
      if (movement !== undefined) movements.push(movement);
    }
    return movements;
  }

  /** A transfer is identified by its nonce, which is a time. */
  transferReference(): string {
    return String(this.parts.requests.nextNonce());
  }

  async transfer({
    asset,
    amount,
    direction,
    reference,
  }: TransferInput): Promise<'done' | 'refused' | 'doubtful'> {
    const { requests, user_id, account } = this.parts;
    const [vault, token] = await Promise.all([this.vault(), this.tokenOf(asset)]);
    if (vault === undefined || token === undefined) return 'refused';
    const [sender, destination] = direction === 'to_vault' ? [user_id, vault] : [VAULT_USER, account];
    const nonce = Number(reference);
    const action = {
      ...{ type: 'spotSend', ...SIGNED_FOR, destination, token },
      ...{ amount: printMicros(amount), time: nonce },
    };
    const { outcome } = await requests.act({
      ...{ user_id: sender, by: 'account', action, nonce, operation: 'submit' },
    });
    if (outcome.what !== 'answered') return 'doubtful';
    const reply = goodAnswer(outcome, exchangeReply);
    if (reply === undefined) return 'doubtful';
    return reply.status === 'ok' ? 'done' : 'refused';
  }

  async transferred(reference: string): Promise<boolean> {
    const nonce = Number(reference);
    const [vault, updates] = await Promise.all([
      this.vault(),
      this.updates(Math.max(0, nonce - CLOCK_MARGIN_MILLIS)),
    ]);
    return updates.some(({ delta }) => isBetween(delta, this.parts.account, vault) && delta.nonce === nonce);
  }

  private async vault(): Promise<string | undefined> {
    return (await this.parts.signer.accountOf(VAULT_USER, 'venue_e'))?.account;
  }

  private updates(startTime: number): Promise<readonly VenueEUpdate[]> {
    const { requests, account } = this.parts;
    return requests.read({ type: 'userNonFundingLedgerUpdates', user: account, startTime }, ledgerUpdates);
  }

  private async tokenOf(asset: string): Promise<string | undefined> {
    const side = sideOf(asset);
    if (side !== undefined) return `+${encodingOf(side)}`;
    if (asset !== COLLATERAL) return undefined;
    const { tokens } = await this.parts.requests.read({ type: 'spotMeta' }, spotMeta);
    const known = tokens.find(({ name }) => name === COLLATERAL);
    if (known === undefined) throw new VenueUnavailable('the venue does not name its collateral');
    return `${COLLATERAL}:${known.tokenId}`;
  }

  private async movementOf(
    { time, hash, delta }: VenueEUpdate,
    vault: string | undefined,
  ): Promise<AccountMovement | undefined> {
    const occurred_at = instantOf(time);
    switch (delta.type) {
      case 'deposit':
      case 'withdraw': {
        const [kind, amount] =
          delta.type === 'deposit'
            ? (['deposit', delta.usdc] as const)
            : (['withdrawal', -delta.usdc] as const);
        return { reference: hash, kind, asset: COLLATERAL, amount, occurred_at };
      }
      case 'outcomeSettlement': {
        const of = await this.sideFacts(delta.coin);
        const paid = { reference: hash, kind: 'payout', asset: COLLATERAL, amount: delta.usdc } as const;
        return { ...paid, ...of, quantity: delta.sz, occurred_at };
      }
      case 'spotTransfer':
      case 'send': {
        const isOut = delta.user === this.parts.account;
        const { token, amount, nonce } = delta;
        // A stranger may choose the nonce of one of our transfers. It is ours only if the vault is the other party.
        const isOurs = isBetween(delta, this.parts.account, vault) && typeof nonce === 'number';
        const of = await this.sideFacts(token);
        const asset = of?.token_id ?? token.split(':')[0] ?? token;
        return {
          ...{
            reference: isOurs ? String(nonce) : hash,
            kind: isOut ? 'transfer-out' : 'transfer-in',
            asset,
          },
          ...{ amount: isOut ? -amount : amount, ...of, occurred_at },
          ...(of === undefined ? {} : { quantity: amount }),
        };
      }
      case 'other':
        return undefined;
    }
  }

  private async sideFacts(
    coin: string,
  ): Promise<
    { readonly market_id: string; readonly outcome: string; readonly token_id: string } | undefined
  > {
    const side = sideOf(coin);
    if (side === undefined) return undefined;
    const outcome = await this.parts.markets.label(side.market_id, side.outcome_index);
    return { market_id: side.market_id, outcome, token_id: tokenIdOf(side) };
  }
}

type Transferred = Extract<VenueEUpdate['delta'], { readonly type: 'spotTransfer' | 'send' }>;

function isBetween(
  delta: VenueEUpdate['delta'],
  account: string,
  vault: string | undefined,
): delta is Transferred {
  if (delta.type !== 'spotTransfer' && delta.type !== 'send') return false;
  const other = delta.user === account ? delta.destination : delta.user;
  return vault !== undefined && other === vault;
}
