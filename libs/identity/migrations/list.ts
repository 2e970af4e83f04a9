import type { MigrationClass } from '#libs/platform/database/migrate.js';
import { InitialIdentity1790000050000 } from './1790000050000-initial-identity.js';

export const identityMigrations: readonly MigrationClass[] = [InitialIdentity1790000050000];
