import { headingDigest, recordDigest, type ReplayBundle, type Sha256 } from './bundle.js';
import { firstDifference } from './canonical.js';
import { about, type Finding } from './shape.js';

/**
 * What was altered after the records were linked, as far as the links show. A record's digest covers itself, so an
 * altered record is named but its neighbours are not: a link may match the stated or the computed digest.
 */
export function alterations(bundle: ReplayBundle, sha256: Sha256): Finding[] {
  const digests = bundle.records.map((record) => recordDigest(record, sha256));
  return [...recordAlterations(bundle, digests), ...frameAlterations(bundle, digests, sha256)];
}

function recordAlterations(bundle: ReplayBundle, digests: readonly string[]): Finding[] {
  const { records } = bundle;
  // The first digit of an auction's id names its shard.
  const shard = Number.parseInt(bundle.auction_id.charAt(0), 16);
  return records.flatMap((record, index) => {
    const name = { ...record, number: index + 1 };
    const findings: Finding[] = [];
    if (digests[index] !== record.digest) findings.push(about(name, 'its content does not match its digest'));
    if (record.number !== index + 1)
      findings.push(about(name, `it was written as number ${record.number}: records are missing or moved`));
    if (record.shard !== shard) findings.push(about(name, 'it is of another shard than the auction'));
    const before = records[index - 1];
    // The first record of a shard is written when its first owner opens it.
    if (before === undefined && (record.epoch < 1 || record.position < 2))
      findings.push(about(name, 'no owner had opened the shard before it'));
    if (before === undefined) return findings;
    // An altered record is no evidence against its neighbours.
    if (digests[index - 1] === before.digest) {
      if (record.position <= before.position)
        findings.push(about(name, 'its position is not after that of the record before it'));
      if (record.epoch < before.epoch)
        findings.push(about(name, 'its epoch is older than that of the record before it'));
      // A new owner first writes a record of its own, so no epoch begins with a record of an auction.
      if (record.epoch > before.epoch && record.position === before.position + 1)
        findings.push(about(name, 'its epoch lacks the record that opens it'));
    }
    if (record.previous !== before.digest && record.previous !== digests[index - 1])
      findings.push(about(name, 'its link is not the digest of the record before it'));
    return findings;
  });
}

function frameAlterations(bundle: ReplayBundle, digests: readonly string[], sha256: Sha256): Finding[] {
  const { records, record_count: count, head } = bundle;
  const [first, last] = [records[0], records.at(-1)];
  if (first === undefined || last === undefined) return [];
  const findings: Finding[] = [];
  if (first.digest === digests[0] && first.previous !== headingDigest(bundle, sha256))
    findings.push({
      what: 'the heading (id, rule version, terms) is not the one that record 1 is linked to',
    });
  if (count !== records.length)
    findings.push({ what: `it states ${count} records and holds ${records.length}` });
  if (last.digest === digests.at(-1) && last.digest !== head)
    findings.push({ what: 'its head is not its last record: records at the end are missing or were added' });
  const difference = firstDifference(bundle.terms, first.data.terms);
  if (difference !== undefined)
    findings.push({ what: `terms.${difference} in the heading differs from record 1` });
  return findings;
}
