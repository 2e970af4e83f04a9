import type { MigrationClass } from '#libs/platform/database/migrate.js';
import { InitialExecution1790000450000 } from './1790000450000-initial-execution.js';
import { InitialSigner1790000600000 } from './1790000600000-initial-signer.js';
import { Switches1790000620000 } from './1790000620000-switches.js';
import { CellCount1790000650000 } from './1790000650000-cell-count.js';

export const executionMigrations: readonly MigrationClass[] = [
  InitialExecution1790000450000,
  InitialSigner1790000600000,
  Switches1790000620000,
  CellCount1790000650000,
];
