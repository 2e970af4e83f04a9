import type { Rules } from './by-the-rules.js';
import { isRight, type HistoryCheck } from './histories.js';
import type { LedgerCheck } from './ledger/check-ledger.js';
import type { ReservationCheck } from './reservations.js';
import type { SealsFound } from './seal-check.js';
import type { Verdict, VerifiedShard } from './verify.js';

const HASH_SHOWN = 16;
const MOST = 20;
const NOT_READ =
  'NOT ALL WAS READ: what was read is sound; find out why the rest does not answer, and run this again';

export function verdictLines(verdict: Verdict): string[] {
  const { sound, damaged, shards, projections, reservations, ledger } = verdict;
  return [
    ...shards.flatMap(shardLines),
    ...(projections ?? []).map(({ table, rows, differing }) =>
      differing === 0
        ? `${table}: ${rows} rows, all as the journals say`
        : `${table}: ${rows} rows, ${differing} NOT AS THE JOURNALS SAY: see npm run projection -- compare`,
    ),
    ...(reservations === undefined ? [] : reservationLines(reservations)),
    ...(ledger === undefined ? [] : ledgerLines(ledger)),
    ...leftOut(verdict),
    sound ? soundLine(verdict) : damaged ? 'DAMAGED: see above' : NOT_READ,
  ];
}

function soundLine({ store, is_home: isHome }: Verdict): string {
  if (isHome) return `SOUND: the journals in ${store} are whole`;
  return `SOUND as far as it goes: the copy in ${store}; compare shows what it lacks of the journals`;
}

function shardLines(verified: VerifiedShard): string[] {
  const { shard, rules, histories } = verified;
  return [
    ...chainLines(verified),
    ...(rules === undefined ? [] : rulesLines(shard, rules)),
    ...(histories === undefined ? [] : historyLines(shard, histories)),
  ];
}

function historyLines(shard: number, check: HistoryCheck): string[] {
  const { kept, wrong, unknown } = check;
  if (isRight(check))
    return kept === 0
      ? []
      : [`shard ${shard}: ${kept} histories of auctions that are over, all as in the journal`];
  const lines = wrong
    .slice(0, MOST)
    .map((id) => `shard ${shard}: the history of auction ${id} DIFFERS FROM THE JOURNAL`);
  const more = wrong.length > MOST ? [`shard ${shard}: and ${wrong.length - MOST} more`] : [];
  const strange =
    unknown === 0
      ? []
      : [`shard ${shard}: ${unknown} histories of auctions that are NOT OVER in the journal`];
  return [...lines, ...more, ...strange];
}

function rulesLines(shard: number, { auctions, open, objections, found }: Rules): string[] {
  if (found === 0)
    return auctions === 0
      ? []
      : [`shard ${shard}: ${auctions} auctions (${open} of them not over), all as the rules say`];
  const lines = objections.slice(0, MOST).map(({ sequence, auction_id: id, type, what }) => {
    const of = id === undefined ? '' : ` (${type ?? ''} of auction ${id})`;
    return `shard ${shard}: record ${sequence}${of} BREAKS THE RULES: ${what}`;
  });
  return found > lines.length ? [...lines, `shard ${shard}: and ${found - lines.length} more`] : lines;
}

function chainLines(verified: VerifiedShard): string[] {
  const { shard, records, epochs, head, faults, survey, seals, unread } = verified;
  const problems = [
    ...faults,
    ...(faults.length > 0 ? lastSealed(verified) : []),
    ...(unread === undefined ? [] : [`NOT READ after record ${records}: ${unread}`]),
  ];
  if (problems.length > 0) return problems.map((what) => `shard ${shard}: ${what}`);
  if (records === 0) return [`shard ${shard}: never opened`];
  const line = `shard ${shard}: ${records} records in ${epochs} epochs, chain whole, head ${head.hash.slice(0, HASH_SHOWN)}`;
  const lines = [line, ...sealLines(shard, seals)];
  if (survey === undefined) return lines;
  const { late, doubled, messages } = survey;
  return [
    ...lines,
    `shard ${shard}: ${messages} messages in its topic: ${late} came too late and ${doubled} twice`,
  ];
}

function lastSealed({ records, seals, sealed_behind: later }: VerifiedShard): string[] {
  const { last_sealed: last, by_former_keys: former } = seals;
  if (later !== undefined) {
    const what =
      later === records + 1 ? 'itself has the seal of an owner' : 'after it has the seal of an owner';
    return [`record ${later} ${what}: remove nothing there`];
  }
  if (last === null) return [];
  if (former === null) return [`the last record that has a seal is ${last}; its seal was not checked`];
  return [`the last record that an owner has sealed is ${last}`];
}

function sealLines(shard: number, { found, by_former_keys: former }: SealsFound): string[] {
  if (found === 0 || former === null) return [];
  if (former === 0) return [`shard ${shard}: ${found} seals, all made with keys of ID_KEY`];
  return [`shard ${shard}: ${found} seals, the first ${former} of them made with keys that were not given`];
}

function reservationLines({ resources, missing, surplus }: ReservationCheck): string[] {
  const lines = missing.slice(0, MOST).map(({ shard, account, resource, journal, reserved }) => {
    return `shard ${shard}: ${reserved} of ${resource} RESERVED for ${account}, but ${journal} promised`;
  });
  if (missing.length > MOST) lines.push(`and ${missing.length - MOST} more`);
  const left =
    surplus.length === 0 ? '' : `, ${surplus.length} with more than that, which the next owner releases`;
  const verdict =
    missing.length === 0 ? 'everything promised is reserved' : `${missing.length} WITH TOO LITTLE`;
  return [...lines, `reservations: ${resources} resources, ${verdict}${left}`];
}

function ledgerLines({ ended, faults }: LedgerCheck): string[] {
  if (faults.length === 0)
    return [
      `ledger: ${ended} awards have ended, all as the journals say, and every transaction is explained`,
    ];
  return faults.map((fault) => `ledger: ${fault.replace(/^./, (first) => first.toUpperCase())}`);
}

function leftOut({ shards, projections, reservations }: Verdict): string[] {
  const isUnchecked = shards.some(({ seals }) => seals.found > 0 && seals.by_former_keys === null);
  const seals = isUnchecked ? ['seals were not checked: ID_KEY is not set'] : [];
  if (
    shards.some(
      ({ faults, rules, unread }) => faults.length > 0 || (rules?.found ?? 0) > 0 || unread !== undefined,
    )
  )
    return seals;
  if (projections === undefined) return [...seals, 'projections and reservations were not compared'];
  if (reservations !== undefined) return seals;
  return [...seals, 'reservations were not compared: owners run, and change them'];
}
