import type { MigrationClass } from '#libs/platform/migrate.js';
import { IdentitySchema1790000050000 } from './1790000050000-identity-schema.js';

export const identityMigrations: readonly MigrationClass[] = [IdentitySchema1790000050000];
