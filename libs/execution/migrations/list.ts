import type { MigrationClass } from '#libs/platform/database/migrate.js';
import { InitialExecution1790000450000 } from './1790000450000-initial-execution.js';
import { InitialSigner1790000460000 } from './1790000460000-initial-signer.js';
import { Switches1790000470000 } from './1790000470000-switches.js';
import { CellCount1790000480000 } from './1790000480000-cell-count.js';
import { BookedSwitches1790000490000 } from './1790000490000-booked-switches.js';
import { ReadSignatures1790000495000 } from './1790000495000-read-signatures.js';

export const executionMigrations: readonly MigrationClass[] = [
  InitialExecution1790000450000,
  InitialSigner1790000460000,
  Switches1790000470000,
  CellCount1790000480000,
  BookedSwitches1790000490000,
  ReadSignatures1790000495000,
];
