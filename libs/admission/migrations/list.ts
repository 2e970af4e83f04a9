import type { MigrationClass } from '#libs/platform/database/migrate.js';
import { ControlSchema1790000200000 } from './1790000200000-control-schema.js';
import { RiskSchema1790000201000 } from './1790000201000-risk-schema.js';
import { OperatorActions1790000202000 } from './1790000202000-operator-actions.js';
import { ControlAndRiskRights1790000203000 } from './1790000203000-control-and-risk-rights.js';
import { HaltsInTheBook1790000204000 } from './1790000204000-halts-in-the-book.js';
import { HaltsByTheirEntry1790000205000 } from './1790000205000-halts-by-their-entry.js';

export const admissionMigrations: readonly MigrationClass[] = [
  ControlSchema1790000200000,
  RiskSchema1790000201000,
  OperatorActions1790000202000,
  ControlAndRiskRights1790000203000,
  HaltsInTheBook1790000204000,
  HaltsByTheirEntry1790000205000,
];
