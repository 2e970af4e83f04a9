import type { MigrationClass } from '#libs/platform/database/migrate.js';
import { InitialCustody1790000300000 } from './1790000300000-initial-custody.js';

export const custodyMigrations: readonly MigrationClass[] = [InitialCustody1790000300000];
