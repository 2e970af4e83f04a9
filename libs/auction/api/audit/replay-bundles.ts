import { Inject, Injectable } from '@nestjs/common';
import { auditView, type AuditView } from '../../rules/audit/audit.js';
import { sealedRecords, signedFrame } from '../../rules/replay/seal.js';
import type { JournalReader } from '#libs/journal/journal.js';
import { nextTurn } from '#libs/platform/time/clock.js';
import { AuditNames } from '../../projections/audit/audit-names.js';
import type { AuditedAuction } from '../../projections/audit/audit-reader.js';
import { provedByJournal } from '../../projections/audit/journal-proof.js';
import { JOURNAL } from '../tokens.js';
import { AttestationKey, sha256 } from './attestation-key.js';

/** After this many records, other work of the process gets its turn. */
const AT_A_TIME = 250;

/** The audit view of an auction, and its replay bundle for offline checks. */
@Injectable()
export class ReplayBundles {
  constructor(
    @Inject(JOURNAL) private readonly journal: JournalReader,
    private readonly names: AuditNames,
    private readonly key: AttestationKey,
  ) {}

  view({ state, events }: AuditedAuction): AuditView {
    const { auction_id: id } = state.terms;
    const commitment = this.names.sealsOf(id);
    const committed = events.map((chained) => ({ ...chained, hash: commitment(chained.hash) }));
    return auditView(state, committed, this.names.pseudonymsOf(id));
  }

  /** The bundle as JSON text. Undefined if the journal does not confirm every record. */
  async bundle(audited: AuditedAuction): Promise<string | undefined> {
    const epochs = await provedByJournal(audited, this.journal);
    if (epochs === 'incomplete') return undefined;
    const { shard } = audited;
    const view = this.view(audited);
    const records: string[] = [];
    let head = '';
    for (const record of sealedRecords(
      view,
      ({ position }) => ({ shard, epoch: epochs.get(position) ?? 0 }),
      sha256,
    )) {
      records.push(JSON.stringify(record));
      head = record.digest;
      if (records.length % AT_A_TIME === 0) await nextTurn();
    }
    const frame = JSON.stringify(signedFrame(view, head, this.key));
    return `${frame.slice(0, -1)},"records":[${records.join(',')}]}`;
  }

  get publicKeys(): readonly object[] {
    return this.key.publicJwks;
  }
}
