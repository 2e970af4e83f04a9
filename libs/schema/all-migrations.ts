import { admissionMigrations } from '#libs/auction/admission/migrations/list.js';
import { custodyMigrations } from '#libs/ledger/migrations/list.js';
import { dataMigrations } from '#libs/data/migrations/list.js';
import { executionMigrations } from '#libs/execution/migrations/list.js';
import { identityMigrations } from '#libs/identity/migrations/list.js';
import { journalMigrations } from '#libs/journal/migrations/list.js';
import type { MigrationClass } from '#libs/platform/database/migrate.js';
import { projectionMigrations } from '#libs/auction/projections/migrations/list.js';
import { InitialBounds1790000500000 } from './migrations/1790000500000-initial-bounds.js';

/** Every schema of the product; TypeORM orders them by the time in their names. */
export const allMigrations: readonly MigrationClass[] = [
  ...identityMigrations,
  ...journalMigrations,
  ...admissionMigrations,
  ...custodyMigrations,
  ...projectionMigrations,
  ...executionMigrations,
  InitialBounds1790000500000,
  ...dataMigrations,
];
