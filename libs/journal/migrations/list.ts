import type { MigrationClass } from '#libs/platform/database/migrate.js';
import { InitialJournal1790000100000 } from './1790000100000-initial-journal.js';

export const journalMigrations: readonly MigrationClass[] = [InitialJournal1790000100000];
