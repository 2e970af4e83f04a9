import type { MigrationClass } from '#libs/platform/migrate.js';
import { CustodySchema1790000300000 } from './1790000300000-custody-schema.js';

export const custodyMigrations: readonly MigrationClass[] = [CustodySchema1790000300000];
