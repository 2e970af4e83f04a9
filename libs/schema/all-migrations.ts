import { admissionMigrations } from '#libs/admission/migrations/list.js';
import { custodyMigrations } from '#libs/custody/migrations/list.js';
import { identityMigrations } from '#libs/identity/migrations/list.js';
import { journalMigrations } from '#libs/journal/migrations/list.js';
import type { MigrationClass } from '#libs/platform/database/migrate.js';
import { projectionMigrations } from '#libs/projections/migrations/list.js';
import { Generation1790000500000 } from './migrations/1790000500000-generation.js';
import { EpochsInBounds1790000501000 } from './migrations/1790000501000-epochs-in-bounds.js';
import { ValuesThatCanBeRead1790000502000 } from './migrations/1790000502000-values-that-can-be-read.js';
import { HistoriesOfBefore1790000506000 } from './migrations/1790000506000-histories-of-before.js';
import { LocksOfBefore1790000507000 } from './migrations/1790000507000-locks-of-before.js';
import { SizesInBounds1790000505000 } from './migrations/1790000505000-sizes-in-bounds.js';
import { WhoTakesPart1790000503000 } from './migrations/1790000503000-who-takes-part.js';

/** Every schema of the product; TypeORM orders them by the time in their names. */
export const allMigrations: readonly MigrationClass[] = [
  ...identityMigrations,
  ...journalMigrations,
  ...admissionMigrations,
  ...custodyMigrations,
  ...projectionMigrations,
  Generation1790000500000,
  EpochsInBounds1790000501000,
  ValuesThatCanBeRead1790000502000,
  WhoTakesPart1790000503000,
  SizesInBounds1790000505000,
  HistoriesOfBefore1790000506000,
  LocksOfBefore1790000507000,
];
