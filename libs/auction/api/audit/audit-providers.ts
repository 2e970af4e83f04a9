import type { Provider } from '@nestjs/common';
import type { Pool } from 'pg';
import type { JournalReader } from '#libs/journal/journal.js';
import { AuditNames } from '../../projections/audit/audit-names.js';
import { AuditReader } from '../../projections/audit/audit-reader.js';
import { AuditReadLog } from '../../projections/audit/read-log.js';
import type { AuctionSettings } from '../auction-settings.js';
import { JOURNAL } from '../tokens.js';
import { AttestationKey } from './attestation-key.js';
import { AuditDesk } from './audit-desk.js';
import { ReplayBundles } from './replay-bundles.js';

export interface AuditParts {
  readonly settings: Pick<AuctionSettings, 'auditKey' | 'auditSigningKeys'>;
  readonly instance: string;
  readonly pool: Pool;
  readonly projections: Pool;
  readonly journal: JournalReader;
}

/** The providers of the auditors' endpoints. */
export function auditProviders({
  settings,
  instance,
  pool,
  projections,
  journal,
}: AuditParts): readonly Provider[] {
  return [
    { provide: AuditReader, useValue: new AuditReader(projections) },
    { provide: AuditReadLog, useValue: new AuditReadLog(pool, instance) },
    { provide: AuditNames, useValue: new AuditNames(Buffer.from(settings.auditKey, 'hex')) },
    { provide: AttestationKey, useValue: attestationKey(settings.auditSigningKeys) },
    { provide: JOURNAL, useValue: journal },
    AuditDesk,
    ReplayBundles,
  ];
}

function attestationKey([first, ...former]: AuctionSettings['auditSigningKeys']): AttestationKey {
  const formerKeys = former.map((seed) => new AttestationKey(Buffer.from(seed, 'hex')));
  return new AttestationKey(Buffer.from(first, 'hex'), formerKeys);
}
