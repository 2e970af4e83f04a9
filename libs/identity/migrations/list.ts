import type { MigrationClass } from '#libs/platform/database/migrate.js';
import { InitialIdentity1790000050000 } from './1790000050000-initial-identity.js';
import { ApiKeys1790000060000 } from './1790000060000-api-keys.js';

export const identityMigrations: readonly MigrationClass[] = [
  InitialIdentity1790000050000,
  ApiKeys1790000060000,
];
