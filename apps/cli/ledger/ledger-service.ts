import type { Pool } from 'pg';
import {
  findContract,
  listContracts,
  setContractStatus,
} from '#libs/auction/admission/policy/contract-registry.js';
import type { RouteKey } from '#libs/auction/admission/policy/policy-snapshot.js';
import { seedContracts } from '#libs/auction/admission/policy/seed-policy.js';
import type { ContractFacts } from '#libs/auction/rules/commands.js';
import { assetOf } from '#libs/auction/rules/holds.js';
import { instantFromNanos } from '#libs/base/instant.js';
import { EVIDENCE_FEED_DEFAULTS } from '#libs/ledger/evidence-feed.js';
import { COLLATERAL } from '#libs/ledger/ledger.js';
import { enterLimit, enterOpening, type Opening } from '#libs/ledger/openings.js';
import type { LimitSeed, SeedMoment } from '#libs/ledger/seed.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { withTransaction } from '#libs/platform/database/postgres.js';
import { CommandFault, EXIT_REFUSED } from '../ops/arguments.js';
import { UsageFault } from '#libs/platform/terminal/commands.js';
import type { LimitCall, OpenCall } from './call.js';

/** Enters contracts, money and limits as the role that owns the tables. No process has that right. */
export class LedgerService {
  constructor(
    private readonly pool: Pool,
    private readonly clock: Clock,
  ) {}

  /** True if the contract is new. */
  async register(contract: ContractFacts): Promise<boolean> {
    if (contract.closes_at <= this.moment().now) throw new UsageFault('--closes-at is in the past');
    const before = await findContract(this.pool, contract);
    if (before === undefined) await seedContracts(this.pool, [contract]);
    const stored = before ?? (await findContract(this.pool, contract));
    const name = (facts: ContractFacts | undefined): string =>
      JSON.stringify({ ...facts, status: undefined }, Object.keys(contract).sort());
    if (name(stored) !== name(contract)) {
      throw refused(`${nameOf(contract)} is registered with other terms, and auctions may depend on them`);
    }
    return before === undefined;
  }

  async setStatus(contract: RouteKey, status: ContractFacts['status']): Promise<ContractFacts> {
    const isDone = await setContractStatus(this.pool, contract, status);
    const stored = await findContract(this.pool, contract);
    if (stored === undefined) throw refused(`no contract ${nameOf(contract)} is registered`);
    if (!isDone && stored.status !== status) throw refused(`${nameOf(contract)} is closed for good`);
    return stored;
  }

  /** `isNew` is false if it was entered before. */
  async open(
    account: string,
    call: OpenCall,
  ): Promise<{ readonly opening: Opening; readonly isNew: boolean }> {
    const { venue, contract, amountAtoms: amount, reference } = call;
    if (contract !== undefined && (await findContract(this.pool, contract)) === undefined) {
      throw refused(`no contract ${nameOf(contract)} is registered`);
    }
    await this.refuseUnknown(venue);
    const asset = contract === undefined ? COLLATERAL : assetOf(contract);
    const opening: Opening = { account, venue, asset, amount, reference };
    const isNew = await withTransaction(this.pool, 'read committed', async (client) => {
      const result = await enterOpening(client, opening, this.moment());
      if (result === 'different') throw refused(`${reference} was already entered, with other values`);
      if (result === 'too much') throw refused('the balance would exceed the largest sum of the ledger');
      return result === 'entered';
    });
    return { opening, isNew };
  }

  async limit(account: string, { venue, amountAtoms: amount }: LimitCall): Promise<LimitSeed> {
    if (venue !== undefined) await this.refuseUnknown(venue);
    const limit: LimitSeed = {
      account,
      venue: venue ?? '',
      resource: venue === undefined ? 'SERVICE_EXPOSURE_LIMIT' : 'VENUE_POSITION_LIMIT',
      amount,
    };
    await withTransaction(this.pool, 'read committed', (client) => enterLimit(client, limit, this.moment()));
    return limit;
  }

  /** Entries are never taken out, so a mistyped venue must not get any. */
  private async refuseUnknown(venue: string): Promise<void> {
    if ((await listContracts(this.pool, { venue, limit: 1 })).length > 0) return;
    throw refused(`no contract is registered on ${venue}: register one first`);
  }

  private moment(): SeedMoment {
    const now = instantFromNanos(this.clock.epochNanos());
    return { now, evidenceTtlMillis: EVIDENCE_FEED_DEFAULTS.ttlMillis };
  }
}

export function nameOf({ venue, contract_id: id, outcome }: RouteKey): string {
  return `${venue}/${id}/${outcome}`;
}

function refused(message: string): CommandFault {
  return new CommandFault(message, EXIT_REFUSED);
}
