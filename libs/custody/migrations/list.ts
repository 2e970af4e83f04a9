import type { MigrationClass } from '#libs/platform/database/migrate.js';
import { CustodySchema1790000300000 } from './1790000300000-custody-schema.js';
import { LedgerRights1790000301000 } from './1790000301000-ledger-rights.js';
import { Openings1790000302000 } from './1790000302000-openings.js';
import { SettledHow1790000303000 } from './1790000303000-settled-how.js';
import { LedgerGates1790000304000 } from './1790000304000-ledger-gates.js';
import { TurnOfEvidence1790000305000 } from './1790000305000-turn-of-evidence.js';

export const custodyMigrations: readonly MigrationClass[] = [
  CustodySchema1790000300000,
  LedgerRights1790000301000,
  Openings1790000302000,
  SettledHow1790000303000,
  LedgerGates1790000304000,
  TurnOfEvidence1790000305000,
];
