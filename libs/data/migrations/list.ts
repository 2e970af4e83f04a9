import type { MigrationClass } from '#libs/platform/database/migrate.js';
import { InitialData1790000600000 } from './1790000600000-initial-data.js';
import { CallCounts1790000610000 } from './1790000610000-call-counts.js';
import { Snapshots1790000630000 } from './1790000630000-snapshots.js';
import { Start1790000660000 } from './1790000660000-start.js';

export const dataMigrations: readonly MigrationClass[] = [
  InitialData1790000600000,
  CallCounts1790000610000,
  Snapshots1790000630000,
  Start1790000660000,
];
