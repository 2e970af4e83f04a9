import { headingDigest, recordDigest, type ReplayBundle, type Sha256 } from './bundle.js';
import { firstDifference } from './canonical.js';
import { about, type Finding } from './shape.js';

/**
 * What was altered since the records were linked, as far as the links tell. Each record covers itself, so one that was
 * altered is named, and its neighbours are not: a link may go by what the record before says of itself or by what it is.
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
    if (digests[index] !== record.digest) findings.push(about(name, 'it is not as it was sealed'));
    if (record.number !== index + 1)
      findings.push(about(name, `it was sealed as number ${record.number}: records are missing or moved`));
    if (record.shard !== shard) findings.push(about(name, "it is of another shard than the auction's"));
    const before = records[index - 1];
    // The first record of a shard is that of its first writer.
    if (before === undefined && (record.epoch < 1 || record.position < 2))
      findings.push(about(name, 'nobody had taken the shard before it'));
    if (before === undefined) return findings;
    // One that was altered itself says nothing of its neighbours.
    if (digests[index - 1] === before.digest) {
      if (record.position <= before.position)
        findings.push(about(name, 'it stands before the one before it'));
      if (record.epoch < before.epoch)
        findings.push(about(name, 'its writer was deposed before the one before it'));
      // Whoever takes a shard over writes that down first, so an epoch begins with a record of no auction.
      if (record.epoch > before.epoch && record.position === before.position + 1)
        findings.push(about(name, 'its writer has not taken the shard over'));
    }
    if (record.previous !== before.digest && record.previous !== digests[index - 1])
      findings.push(about(name, 'it was sealed behind another record than the one before it'));
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
      what: 'the heading (id, rule version, terms) is not the one that record 1 was sealed behind',
    });
  if (count !== records.length)
    findings.push({ what: `it tells of ${count} records and holds ${records.length}` });
  if (last.digest === digests.at(-1) && last.digest !== head)
    findings.push({ what: 'its head is not its last record: records are missing at the end, or were added' });
  const difference = firstDifference(bundle.terms, first.data.terms);
  if (difference !== undefined)
    findings.push({ what: `terms.${difference} at the top is not that of record 1` });
  return findings;
}
