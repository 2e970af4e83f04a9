import { admissionMigrations } from '#libs/admission/migrations/list.js';
import type { MigrationClass } from '#libs/platform/migrate.js';

/** Every schema of the product; TypeORM orders them by the time in their names. */
export const migrations: readonly MigrationClass[] = [...admissionMigrations];
