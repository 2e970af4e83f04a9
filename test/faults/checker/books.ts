import type pg from 'pg';
import type { OracleArchive } from '../../simulator/oracle/archive.js';
import type { AuctionFile, FiledAward } from '../../simulator/oracle/auction-file.js';
import { amountIn, nameOf, rounded } from '../../simulator/oracle/holds.js';
import { sumsOf } from '../../simulator/oracle/money-book.js';
import { must } from '../../simulator/oracle/violation.js';
import type { Findings } from './findings.js';

const LEDGER = 'the ledger to the atom';
const SHARDS = [0, 1, 2];
const SET_ASIDE = 'reservations to the atom';

interface EntryRow {
  readonly transaction_id: string;
  readonly account_id: string;
  readonly venue: string;
  readonly asset: string;
  readonly amount: string;
}

interface TransactionRow {
  readonly transaction_id: string;
  readonly kind: string;
}

interface SettlementRow {
  readonly award_id: string;
  readonly outcome: string;
  readonly venue: string | null;
  readonly asset: string | null;
  readonly delivered_atoms: string | null;
  readonly transaction_id: string | null;
}

/** At rest, compares the ledger and the reservations with the journals. */
export async function checkBooks(pool: pg.Pool, archive: OracleArchive, findings: Findings): Promise<void> {
  const { rows: entries } = await pool.query<EntryRow>('select * from custody.entries');
  const { rows: settlements } = await pool.query<SettlementRow>('select * from custody.settlements');
  const byTransaction = Map.groupBy(entries, ({ transaction_id: id }) => id);
  const awards = awardsIn(archive);
  const settled = new Set<string>();
  for (const row of settlements) {
    settled.add(row.award_id);
    const found = awards.get(row.award_id);
    findings.look('settlements', () => {
      must(found !== undefined, LEDGER, () => `${row.award_id} was settled and never awarded`);
      const stage = row.outcome === 'SETTLED' ? 'CONFIRMED' : 'FAILED';
      must(
        found.award.stage === stage,
        LEDGER,
        () => `${row.award_id} is ${row.outcome}, recorded as ${found.award.stage}`,
      );
      if (row.outcome !== 'SETTLED') return;
      findings.count('trades on the ledger');
      checkEntries(row, found, byTransaction.get(row.transaction_id ?? '') ?? []);
    });
  }
  for (const [id, { award, file }] of awards) {
    const isEnded = award.stage === 'CONFIRMED' || award.stage === 'FAILED';
    findings.look('awards', () => {
      must(isEnded, LEDGER, () => `${id} of ${file.id} is ${award.stage} at rest`);
      must(settled.has(id), LEDGER, () => `${id} is ${award.stage}, but the ledger has no settlement`);
    });
  }
  const { rows: transactions } = await pool.query<TransactionRow>(
    'select transaction_id, kind from custody.transactions order by transaction_id',
  );
  checkTransactions(transactions, settlements, findings);
  await checkBalances(pool, entries, findings);
  await checkReserved(pool, archive, findings);
}

/** Other transactions than trades belong to no award: only opening balances are allowed, before the first trade. */
function checkTransactions(
  transactions: readonly TransactionRow[],
  settlements: readonly SettlementRow[],
  findings: Findings,
): void {
  const trades = Map.groupBy(settlements, ({ transaction_id: id }) => id);
  let hasTraded = false;
  for (const { transaction_id: id, kind } of transactions) {
    const awards = trades.get(id) ?? [];
    hasTraded ||= kind === 'SETTLEMENT';
    findings.look('transactions', () => {
      if (kind === 'SETTLEMENT')
        must(awards.length === 1, LEDGER, () => `transaction ${id} settles ${awards.length} awards`);
      else if (kind === 'OPENING')
        must(!hasTraded, LEDGER, () => `transaction ${id} is an ${kind} after the first trade`);
    });
  }
}

interface FoundAward {
  readonly file: AuctionFile;
  readonly award: FiledAward;
}

function awardsIn(archive: OracleArchive): Map<string, FoundAward> {
  const all = [...archive.files.values()].flatMap((file) =>
    [...file.awards].map(([id, award]) => [id, { file, award }] as const),
  );
  return new Map(all);
}

/**
 * Reserved tokens are delivered; the rest is issued against collateral, which stays in escrow with rounding
 * remainders. No other account is touched.
 */
function checkEntries(
  { award_id: id, venue, asset, delivered_atoms: said }: SettlementRow,
  { file, award }: FoundAward,
  rows: EntryRow[],
): void {
  const { terms } = file;
  const { maker, price_atoms: price, quantity_atoms: quantity, maker_hold, originator_hold } = award.terms;
  const originator = terms.originator.account_id;
  const isBuy = terms.side === 'BUY';
  const [buyer, seller] = isBuy ? [originator, maker] : [maker, originator];
  const told = award.settlement;
  const route = terms.routes.find(
    (one) => one.venue === told?.venue && `${one.contract_id}/${one.outcome}` === told.asset,
  );
  must(
    route !== undefined && venue === told?.venue && asset === told.asset,
    LEDGER,
    () =>
      `${id} was settled at ${venue ?? 'no venue'} by ${asset ?? 'nothing'}, recorded as ${told?.venue ?? ''} ${told?.asset ?? ''}`,
  );
  const token = `${route.contract_id}/${route.outcome}`;
  const complement = `${route.contract_id}/${route.outcome === 'YES' ? 'NO' : 'YES'}`;
  const sellerHold = isBuy ? maker_hold : originator_hold;
  const delivered = Math.min(quantity, amountIn(sellerHold, route.venue, 'OUTCOME_TOKEN', token));
  must(
    Number(said) === delivered && told.delivered_atoms === delivered,
    LEDGER,
    () => `${id} delivered ${delivered}, says ${said ?? 'nothing'} and recorded ${told.delivered_atoms}`,
  );
  const issued = quantity - delivered;
  const paid = rounded(price, quantity);
  const gained = rounded(price, delivered) - rounded(1_000_000 - price, issued);
  const expected = new Map([
    [`${buyer} `, -paid],
    [`${seller} `, gained],
    [`${buyer} ${token}`, quantity],
    [`${seller} ${token}`, -delivered],
    [`${seller} ${complement}`, issued],
    ['system:escrow ', paid - gained],
    [`system:issuer ${token}`, -issued],
    [`system:issuer ${complement}`, -issued],
  ]);
  for (const { account_id: account, venue: at, asset: what, amount } of rows) {
    const name = `${account} ${what}`;
    must(
      Number(amount) === expected.get(name) && at === venue,
      LEDGER,
      () => `${id}: ${name} moves by ${amount} at ${at} instead of ${expected.get(name) ?? 0}`,
    );
    expected.delete(name);
  }
  for (const [name, amount] of expected) must(amount === 0, LEDGER, () => `${id}: ${name} lacks ${amount}`);
}

async function checkBalances(pool: pg.Pool, entries: readonly EntryRow[], findings: Findings): Promise<void> {
  const balances = new Map<string, bigint>();
  const totals = new Map<string, bigint>();
  for (const { account_id: account, venue, asset, amount } of entries) {
    const name = `${account} ${venue} ${asset}`;
    balances.set(name, (balances.get(name) ?? 0n) + BigInt(amount));
    totals.set(`${venue} ${asset}`, (totals.get(`${venue} ${asset}`) ?? 0n) + BigInt(amount));
  }
  const { rows } = await pool.query<Omit<EntryRow, 'transaction_id'>>('select * from custody.balances');
  for (const { account_id: account, venue, asset, amount } of rows) {
    const name = `${account} ${venue} ${asset}`;
    findings.look('balances', () => {
      const expected = balances.get(name) ?? 0n;
      must(BigInt(amount) === expected, LEDGER, () => `${name} is ${amount} instead of ${expected}`);
      must(BigInt(amount) >= 0n || account.startsWith('system:'), LEDGER, () => `${name} is ${amount}`);
    });
  }
  for (const [name, total] of totals) {
    findings.look('assets', () => must(total === 0n, LEDGER, () => `${name} sums up to ${total}`));
  }
}

/** Open auctions have what they should reserved, and finished ones nothing. */
async function checkReserved(pool: pg.Pool, archive: OracleArchive, findings: Findings): Promise<void> {
  const held = SHARDS.map(() => new Map<string, number>());
  for (const file of archive.files.values()) {
    const sums = held[file.shard];
    for (const [name, amount] of sumsOf(file, () => false)) sums?.set(name, (sums.get(name) ?? 0) + amount);
  }
  const { rows } = await pool.query<Record<string, string>>('select * from risk.reserved');
  for (const row of rows) {
    const { account_id: account = '', venue = '', resource = '', asset = '' } = row;
    const name = nameOf(account, { venue, resource, asset });
    for (const [shard, sums] of held.entries()) {
      const [amount, expected] = [Number(row[`shard_${shard}`]), sums.get(name) ?? 0];
      sums.delete(name);
      findings.look('reservations', () => {
        must(
          amount === expected,
          SET_ASIDE,
          () => `shard ${shard} has ${amount} of ${readable(name)}, not ${expected}`,
        );
      });
    }
  }
  for (const [shard, sums] of held.entries()) {
    for (const [name, amount] of sums) {
      if (amount !== 0)
        findings.add(`${SET_ASIDE}: shard ${shard} lacks a row for ${amount} of ${readable(name)}`);
    }
  }
}

function readable(name: string): string {
  return name.replaceAll('\u0000', '/');
}
