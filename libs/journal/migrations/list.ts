import type { MigrationClass } from '#libs/platform/database/migrate.js';
import { JournalSchema1790000100000 } from './1790000100000-journal-schema.js';
import { JournalHome1790000101000 } from './1790000101000-journal-home.js';
import { JournalWitness1790000102000 } from './1790000102000-journal-witness.js';
import { WitnessPlace1790000103000 } from './1790000103000-witness-place.js';
import { JournalRestored1790000104000 } from './1790000104000-journal-restored.js';
import { JournalLife1790000105000 } from './1790000105000-journal-life.js';
import { JournalSeals1790000106000 } from './1790000106000-journal-seals.js';
import { JournalAccepted1790000107000 } from './1790000107000-journal-accepted.js';
import { JournalHistories1790000108000 } from './1790000108000-journal-histories.js';

export const journalMigrations: readonly MigrationClass[] = [
  JournalSchema1790000100000,
  JournalHome1790000101000,
  JournalWitness1790000102000,
  WitnessPlace1790000103000,
  JournalRestored1790000104000,
  JournalLife1790000105000,
  JournalSeals1790000106000,
  JournalAccepted1790000107000,
  JournalHistories1790000108000,
];
