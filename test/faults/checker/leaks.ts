import type { OracleArchive } from '../../simulator/oracle/archive.js';
import { DisclosedNames } from '../../simulator/oracle/names.js';
import { must } from '../../simulator/oracle/violation.js';
import type { Transcript } from '../load/transcript.js';
import type { Findings } from './findings.js';

const PRIVATE = 'nothing leaks';

/**
 * No maker was ever sent an id of a competitor's account, quote or award, nor of an originator that has not
 * disclosed itself to it.
 */
export function checkLeaks(
  transcript: Transcript,
  archive: OracleArchive,
  makers: readonly string[],
  findings: Findings,
): void {
  const names = new DisclosedNames(archive);
  const owners = new Map<string, string>();
  for (const { quotes, awards } of archive.files.values()) {
    for (const { id, maker } of quotes.values()) owners.set(id, maker);
    for (const { terms } of awards.values()) owners.set(terms.award_id, terms.maker);
  }
  for (const maker of makers) {
    for (const id of transcript.idsTold(maker)) {
      const owner = owners.get(id);
      findings.look('ids shown to makers', () => {
        must(
          owner === undefined || owner === maker,
          PRIVATE,
          () => `${maker} was told ${id}, which is ${owner ?? ''}'s`,
        );
        names.checkId(maker, id);
      });
    }
  }
}
