import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Whether an auction is a viewer's, asked without the auction: by the viewer first, so that an auction of others and one
 * that never was are looked for in the same place of the index.
 */
export class ViewersByAuction1790000404000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('create index on completed.viewers (viewer_id, auction_id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index completed.viewers_viewer_id_auction_id_idx');
  }
}
