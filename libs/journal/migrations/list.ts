import type { MigrationClass } from '#libs/platform/database/migrate.js';
import { InitialJournal1790000100000 } from './1790000100000-initial-journal.js';
import { OwnFamily1790000110000 } from './1790000110000-own-family.js';

export const journalMigrations: readonly MigrationClass[] = [
  InitialJournal1790000100000,
  OwnFamily1790000110000,
];
