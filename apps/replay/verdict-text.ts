import type { RankingRow } from '#libs/auction/rules/audit/audit-ranking.js';
import type { Finding } from '#libs/auction/rules/replay/shape.js';
import type { AuctionState } from '#libs/auction/rules/state.js';
import type { BundleVerdict } from './verdict.js';

const REASONS: Readonly<Record<RankingRow['reason'], string>> = {
  AWARDED: 'won, all of it',
  PARTIALLY_AWARDED: 'won, the quantity that was left',
  RESERVE_NOT_MET: "worse than the originator's limit",
  MINIMUM_NOT_MET: "no winner: together the quotes stayed below the auction's minimum fill",
  BELOW_MINIMUM_FILL: 'too small for the minimum fill',
  OUTRANKED: 'better quotes took the whole quantity',
  QUOTE_MINIMUM_NOT_MET: 'less was left than its own minimum',
  MAX_WINNERS_REACHED: 'the largest number of winners was reached',
};

/** A bundle is untrusted input: no control character in it may overwrite the verdict on a terminal. */
export function plain(text: string): string {
  return text.replaceAll(/[^\P{C}\n]/gu, '?');
}

export function verdictText(verdict: BundleVerdict): string {
  const lines = [
    ...head(verdict),
    ...outcome(verdict.state, verdict.ranking),
    ...section('Altered', verdict.alterations),
    ...section('Against the rules', verdict.contradictions),
    ...conclusion(verdict),
  ];
  return plain(lines.join('\n'));
}

export function verdictJson({ ok, origin, bundle, state, ...rest }: BundleVerdict): string {
  const body = {
    verdict: ok ? 'OK' : 'MISMATCH',
    origin,
    ...(bundle === undefined ? {} : { auction_id: bundle.auction_id, key_id: bundle.attestation.key_id }),
    ...(state === undefined ? {} : { status: state.status, rule_version: state.terms.rule_version }),
    ...rest,
  };
  return JSON.stringify(body, undefined, 2);
}

function head({ bundle }: BundleVerdict): string[] {
  if (bundle === undefined) return [];
  const { terms, records } = bundle;
  const [first, last] = [records[0], records.at(-1)];
  return [
    `Auction ${bundle.auction_id}, rule version ${bundle.rule_version}`,
    `${records.length} records of shard ${first?.shard ?? 0}, positions ${first?.position ?? 0} to ${last?.position ?? 0}`,
    `${terms.side} ${terms.quantity_atoms} atoms, ${terms.allocation}, ` +
      `limit ${terms.limit_price_atoms ?? 'none'}, minimum fill ${terms.min_fill_quantity_atoms}, closes ${terms.closes_at}`,
    '',
  ];
}

function outcome(state: AuctionState | undefined, ranking: readonly RankingRow[]): string[] {
  if (state === undefined) return [];
  const rows = ranking.map((row) => [
    row.rank === undefined ? '-' : String(row.rank),
    row.market_maker,
    String(row.price_atoms),
    String(row.quantity_atoms),
    String(row.awarded_quantity_atoms),
    `${row.reason} (${REASONS[row.reason]})`,
  ]);
  const table =
    rows.length === 0
      ? ['There was no standing quote at the close.']
      : columns([['rank', 'maker', 'price', 'quantity', 'awarded', 'why'], ...rows]);
  return [`Recomputed from the records: ${state.status}`, '', ...table, ''];
}

function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows.map((row) => `  ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')}`.trimEnd());
}

function section(title: string, findings: readonly Finding[]): string[] {
  if (findings.length === 0) return [];
  return [`${title}:`, ...findings.map((finding) => `  ${findingText(finding)}`), ''];
}

function findingText({ record, what }: Finding): string {
  if (record === undefined) return what;
  return `record ${record.number} (position ${record.position}, ${record.type}): ${what}`;
}

function conclusion({ ok, origin, bundle }: BundleVerdict): string[] {
  if (!ok) return ['NOT OK: this is not what the service attested, or does not follow the rules.'];
  const key = bundle?.attestation.key_id ?? '';
  const lines = ['OK: the records are complete, and winners, ranking and reasons follow the rules.'];
  if (origin === 'VERIFIED') return [...lines, `Signed with a key that you gave: ${key}`];
  return [
    ...lines,
    'ORIGIN NOT VERIFIED: anyone could have signed this. Give the public key of the service with --key.',
    `It names the key ${key}`,
  ];
}
