import type { MigrationClass } from '#libs/platform/database/migrate.js';
import { InitialAdmission1790000200000 } from './1790000200000-initial-admission.js';

export const admissionMigrations: readonly MigrationClass[] = [InitialAdmission1790000200000];
